import { ExpressionError, type Token, unquoted } from './expression-token-rules.ts';
import { TENANT_LABEL } from './metrics-store.port.ts';

export const OWN_LABEL = `${TENANT_LABEL} is a label of the service's own`;

const DEPTH_MAX = 50;
const SELECTORS_MAX = 200;
/** Functions that write labels, of every series; and what each is given. */
const LABEL_FUNCTIONS_MAX = 10;
const LABEL_ARGUMENTS_MAX = 40;
/** Longest text that a function may be given, in bytes. */
const TEXT_MAX = 1_024;
/** The store ends at a label of 64 KB, and has a copy of each for every series. */
const LABEL_MAX = 4_096;
/** What the labels of events may have, in bytes of most scripts. */
const STORED_LABEL = 256;

const LABEL_FUNCTION = /^(?:label_(?!match$|mismatch$|value$)\w+|alias)$/;
/** Keywords whose names in parentheses are names of labels. */
const LISTS = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);
const OPERATORS = new Set(
  'and or unless if ifnot default atan2 bool offset limit keep_metric_names inf nan prefix fill fill_left fill_right'.split(
    ' ',
  ),
);
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** What stands between commas. */
interface Part {
  /** Its texts, one behind the other, as the store adds them up. */
  text: string;
  /** It has nothing but texts and numbers. */
  isPlain: boolean;
  /** Bytes of the longest label that it may give its series. */
  label: number;
  /** Bytes of the longest text within it. */
  longest: number;
}

/** A list in parentheses, brackets or braces; with the function that it is handed to. */
interface List {
  opening: string;
  called: string;
  parts: Part[];
}

const newPart = (): Part => ({ text: '', isPlain: true, label: STORED_LABEL, longest: 0 });
const lastOf = ({ parts }: List): Part => parts.at(-1) as Part;
const bytes = (text: string): number => Buffer.byteLength(text);

/**
 * Throws `ExpressionError` for an expression that could take more of the store than one query may, or names the label of
 * the tenant. It bounds how long labels can become, not whether the expression is well formed: that the store says.
 */
export function checkBounds(tokens: readonly Token[]): void {
  const seen = tokens.filter(({ kind }) => kind !== 'blank');
  const lists: List[] = [{ opening: '', called: '', parts: [newPart()] }];
  let [selectors, labelFunctions] = [0, 0];
  for (const [index, { kind, text }] of seen.entries()) {
    const list = lists.at(-1) as List;
    const part = lastOf(list);
    if (kind === 'name') {
      const name = text.toLowerCase();
      const isCalled = seen[index + 1]?.text === '(';
      if (name === TENANT_LABEL) throw new ExpressionError(OWN_LABEL);
      if (name === 'with' && isCalled) throw new ExpressionError('WITH templates are not taken: write them out');
      if (isCalled && LABEL_FUNCTION.test(name) && ++labelFunctions > LABEL_FUNCTIONS_MAX)
        throw new ExpressionError(`more than ${LABEL_FUNCTIONS_MAX} functions that write labels`);
      if (!isCalled && !OPERATORS.has(name) && !isWithinNames(list)) selectors++;
      part.isPlain = false;
    } else if (kind === 'text') {
      // The prefix of all labels of the other side would be that of the tenant's, too.
      if (isPrefixOfAll(seen, index)) throw new ExpressionError('a prefix needs the names of the labels that get it');
      addText(part, unquoted(text));
    } else if (text in CLOSING) {
      if (lists.length > DEPTH_MAX) throw new ExpressionError(`nested more than ${DEPTH_MAX} deep`);
      if (text === '{' && seen[index - 1]?.kind !== 'name') selectors++;
      part.isPlain = false;
      lists.push({ opening: text, called: text === '(' ? calledBefore(seen, index) : '', parts: [newPart()] });
    } else if (text === ')' || text === ']' || text === '}') {
      if (CLOSING[list.opening] !== text) throw new ExpressionError(`parse error: unexpected ${text}`);
      lists.pop();
      close(list, lastOf(lists.at(-1) as List));
    } else if (text === ',') list.parts.push(newPart());
    if (selectors > SELECTORS_MAX) throw new ExpressionError(`more than ${SELECTORS_MAX} selectors`);
  }
}

/** Names there are none of series. */
const isWithinNames = ({ opening, called }: List): boolean => opening === '{' || opening === '[' || LISTS.has(called);

/** The function or modifier that the list which opens there belongs to, as in `sum(x)`; not `sum by (y) (x)`. */
function calledBefore(seen: readonly Token[], index: number): string {
  const before = seen[index - 1];
  return before?.kind === 'name' ? before.text.toLowerCase() : '';
}

const isPrefixOfAll = (seen: readonly Token[], index: number): boolean =>
  seen[index - 1]?.text.toLowerCase() === 'prefix' && seen[index - 2]?.text === ')' && seen[index - 3]?.text === '*';

function addText(part: Part, text: string): void {
  part.text += text;
  if (part.text.includes(TENANT_LABEL)) throw new ExpressionError(OWN_LABEL);
  part.longest = Math.max(part.longest, bytes(part.text));
}

/** Hands on to the part around a list what came of it. */
function close({ opening, called, parts }: List, around: Part): void {
  const longest = Math.max(...parts.map((part) => part.longest));
  around.longest = Math.max(around.longest, longest);
  // Texts of selectors are no labels; a pattern may list many values.
  if (opening === '{') return;
  if (called !== '' && parts.some(({ isPlain, text }) => isPlain && bytes(text) > TEXT_MAX))
    throw new ExpressionError(`a text that is handed to ${called} is longer than ${TEXT_MAX} bytes`);
  const label = LABEL_FUNCTION.test(called)
    ? writtenLabel(called, parts)
    : Math.max(...parts.map((part) => Math.max(part.label, bytes(part.text))));
  // What is absent has the labels of its selector.
  around.label = Math.max(around.label, label, called.startsWith('absent') ? longest : 0);
  if (around.label > LABEL_MAX) throw new ExpressionError(`${called} could make labels longer than ${LABEL_MAX} bytes`);
}

/** Bytes of the longest label after a function that writes labels. */
function writtenLabel(called: string, [series = newPart(), ...given]: readonly Part[]): number {
  if (!given.every(({ isPlain }) => isPlain))
    throw new ExpressionError(`${called} takes texts behind its series, and no expressions`);
  if (given.length > LABEL_ARGUMENTS_MAX)
    throw new ExpressionError(`${called} takes at most ${LABEL_ARGUMENTS_MAX} texts`);
  const texts = given.map(({ text }) => bytes(text));
  const before = Math.max(series.label, bytes(series.text));
  switch (called) {
    case 'label_join':
      return Math.max(before, (given.length - 2) * (before + (texts[1] ?? 0)));
    case 'label_graphite_group':
      return given.length * (before + 1);
    case 'label_replace':
      return Math.max(before, ...texts, replaced(given[1], before, 1));
    case 'label_transform':
      return Math.max(before, ...texts, replaced(given[2], before, before + 1));
    default:
      return Math.max(before, ...texts);
  }
}

/** What a replacement makes of a label: `$1` and the like are what matched, everything else comes with each match. */
function replaced(replacement: Part | undefined, label: number, matches: number): number {
  const text = replacement?.text ?? '';
  const references = text.split('$').length - 1;
  return references * label + matches * (bytes(text) - references) + label;
}
