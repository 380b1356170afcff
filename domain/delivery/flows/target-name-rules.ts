import { DomainError } from '../../kernel/shared/errors.ts';
import { fold } from '../../kernel/text/fold-rules.ts';
import { exceededLimit } from '../../kernel/json/json-size-rules.ts';

/** By what a payload names the targets of its run, wherever in it: all folded, so that case and spaces say nothing. */
export interface TargetNames {
  /** Members that name an environment, by name or id. */
  environments: Set<string>;
  /** Members that name an org by its username or alias. */
  orgs: Set<string>;
  sandboxes: Set<string>;
  /** Words anywhere that may be the username of an org or the id of an environment, and count if they are. */
  mentions: Set<string>;
  /** Where a target is expected, what may be the name of an environment, and counts if it is. */
  perhaps: Set<string>;
  /** Username of the production org of the sandboxes. */
  production: string | undefined;
  branch: string | undefined;
}

type Kind = 'environment' | 'org' | 'sandbox' | 'target';

/** Members by which people, pipelines and programs name a target; without case and punctuation. */
const KINDS: readonly [Kind, RegExp][] = [
  ['environment', /^(target|deploy|deployment|destination|to)?env(ironment)?s?(name|id|key|slug)?s?$/],
  ['org', /^(target|deploy|destination|to|sf|sfdx|crm)?orgs?(username|user|name|alias|id)?s?$/],
  ['org', /^(target|deploy|destination|sf|sfdx|crm)username$|^(target)?alias$/],
  ['sandbox', /^(target|destination)?sandbox(es)?(name|id)?s?$/],
  ['target', /^(deploy)?(target|destination|stage|tier|to)s?(name)?$/],
];
/** Members of an object that stands where a name is expected. */
const NAMING = /^(name|id|key|slug|username|alias|value)$/;
/** Where builds take packages from, or create orgs: not what a run changes. */
const NO_TARGET = /^(target|default)?devhub/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const WORD_ENDS = /[\s"'`,;:=|<>(){}[\]\\/?&]+/;
/** Without characters that `fold` removes: words are cut out before they are folded. */
const PARTS = /[^ \t\n\r"'`,;:=|<>(){}[\]\\/?&]+/g;
const MAY_BE_MENTION = /[@＠﹫]|%40|-/i;
/** How deep documents within texts are read. */
const NESTED_MAX = 5;
const LEVELS_MAX = 100;
/** Members and elements, those of documents in texts included. */
const MEMBERS_MAX = 100_000;
const NAMES_MAX = 50_000;
/** Members, words and names that are read between two pauses. */
const STEP = 500;
/** Members of every payload that are about people and work items. */
const NOT_ABOUT_TARGETS = new Set(['approvalPolicy', 'workItemRef', 'postCopy']);

const kindOf = (key: string): Kind | undefined => KINDS.find(([, pattern]) => pattern.test(key))?.[0];
const bare = (key: string): string => fold(key).replaceAll(/[^a-z0-9]/g, '');

interface Place {
  kind: Kind | undefined;
  /** How many texts it is nested in. */
  depth: number;
}

class Reader {
  readonly names: TargetNames = {
    environments: new Set(),
    orgs: new Set(),
    sandboxes: new Set(),
    mentions: new Set(),
    perhaps: new Set(),
    production: undefined,
    branch: undefined,
  };
  readonly #open: [unknown, Place][] = [];
  #members = 0;
  #steps = 0;

  /** Without recursion: what is nested as deep as its length allows must not exhaust the stack. */
  *read(payload: readonly [string, unknown][]): Generator<undefined, void> {
    for (const [key, each] of payload) yield* this.#member(key, each, { kind: undefined, depth: 0 });
    for (let next = this.#open.pop(); next; next = this.#open.pop()) {
      const [value, place] = next;
      if (typeof value === 'string') yield* this.#text(value, place);
      else if (typeof value === 'number') this.#perhaps(String(value), place);
      else if (Array.isArray(value)) for (const each of value) this.#put(each, place);
      else if (typeof value === 'object' && value !== null)
        for (const [key, each] of Object.entries(value)) yield* this.#member(key, each, place);
      if (this.#isPauseDue()) yield;
    }
  }

  #isPauseDue = (): boolean => ++this.#steps % STEP === 0;

  #put(value: unknown, place: Place): void {
    if (++this.#members > MEMBERS_MAX) throw tooMuch('members');
    this.#open.push([value, place]);
  }

  *#member(name: string, value: unknown, { kind: outer, depth }: Place): Generator<undefined, void> {
    if (this.#isPauseDue()) yield;
    const key = bare(name);
    if (NO_TARGET.test(key)) return;
    yield* this.#words(name);
    this.#perhaps(name, { kind: outer, depth });
    this.#put(value, { kind: kindOf(key) ?? (NAMING.test(key) ? outer : undefined), depth });
  }

  *#text(text: string, { kind, depth }: Place): Generator<undefined, void> {
    const document = depth < NESTED_MAX ? documentIn(text) : undefined;
    if (document !== undefined) {
      this.#put(document, { kind, depth: depth + 1 });
      return;
    }
    yield* this.#words(text);
    for (const [part] of kind ? text.matchAll(/[^,]+/g) : []) {
      if (this.#isPauseDue()) yield;
      const name = fold(part);
      if (name === '') continue;
      if (kind === 'environment') this.#name('environments', name);
      else if (kind === 'org') this.#name('orgs', withoutSpaces(name));
      else if (kind === 'target') this.#name('perhaps', name);
      else this.#name('sandboxes', withoutSpaces(name));
    }
  }

  /** A number, or a key: `{ environments: { prod: true } }`. */
  #perhaps(name: string, { kind }: Place): void {
    if (kind === 'environment' || kind === 'target') this.#name('perhaps', fold(name));
  }

  *#words(text: string): Generator<undefined, void> {
    if (!MAY_BE_MENTION.test(text)) return;
    for (const [part] of text.matchAll(PARTS)) {
      if (this.#isPauseDue()) yield;
      if (!MAY_BE_MENTION.test(part)) continue;
      for (const word of fold(part).replaceAll('%40', '@').split(WORD_ENDS))
        if (word.includes('@') || UUID.test(word)) this.#name('mentions', withoutEnd(word));
    }
  }

  #name(as: 'environments' | 'orgs' | 'sandboxes' | 'mentions' | 'perhaps', name: string): void {
    const { [as]: names } = this.names;
    names.add(name);
    if (names.size > NAMES_MAX) throw tooMuch('names and addresses');
  }
}

/** What is not read could name an environment whose gates the run would not pass. */
const tooMuch = (what: string) =>
  new DomainError('invalid_request', `The payload has too many ${what} for its targets to be found`);

/** A word without the end of its sentence. */
function withoutEnd(word: string): string {
  let end = word.length;
  while (end > 0 && (word[end - 1] === '.' || word[end - 1] === '!')) end--;
  return word.slice(0, end);
}

const withoutSpaces = (name: string): string => name.replaceAll(/\s/g, '');

/** The object or array that a text is; undefined: it is only a text. */
function documentIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  if (exceededLimit(Buffer.from(text), { levels: LEVELS_MAX, members: MEMBERS_MAX })) {
    if (/[\]}]/.test(text.trimEnd().at(-1) ?? '')) throw tooMuch('members');
    return undefined;
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

/**
 * The targets that a payload names, at any depth: in members of its own, of a pipeline's inputs, or of documents in
 * texts. A generator, so that the caller can pause. Throws `invalid_request` for a payload with too much to be read.
 * @param isOnSandbox the production org of the named sandbox is where that comes from, not what the run changes.
 */
export function* targetNames(
  payload: Readonly<Record<string, unknown>>,
  { isOnSandbox }: { isOnSandbox: boolean },
): Generator<undefined, TargetNames> {
  const reader = new Reader();
  const production = textOf(payload.productionUsername);
  const hasSandbox = isOnSandbox && textOf(payload.sandboxName) !== undefined;
  const about = Object.entries(payload).filter(
    ([key]) => !NOT_ABOUT_TARGETS.has(key) && !(hasSandbox && key === 'productionUsername'),
  );
  yield* reader.read(about);
  const { names } = reader;
  if (production !== undefined && !hasSandbox && isOnSandbox) names.orgs.add(withoutSpaces(fold(production)));
  names.production = production === undefined ? undefined : withoutSpaces(fold(production));
  names.branch = textOf(payload.branch)?.replace(/^refs\/heads\//, '');
  return names;
}
