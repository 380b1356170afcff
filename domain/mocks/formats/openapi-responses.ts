import { isObject, parsedJson } from '../../kernel/json/json-rules.ts';
import type { ImportedSteps, StepDraft } from './imported.ts';
import { partOf } from './openapi-references.ts';
import type { Resolve, SampleOf } from './sample-schema-rules.ts';

type Part = Record<string, unknown>;
type Path = (string | number)[];

export interface DocumentReading {
  collected: ImportedSteps;
  resolve: Resolve;
  sampleOf: SampleOf;
}

/** What a response answers, and what of it clients may ask for instead. */
export interface Answer {
  response: StepDraft['response'];
  /** By the name that `Prefer: example=…` gives; without the one that is the response. */
  examples: ReadonlyMap<string, StepDraft['response']>;
  /** What its schema says, where `response` is an example. */
  sampled: (() => StepDraft['response'] | undefined) | undefined;
}

/** Names of an operation's responses: successes first, then the default, redirections and errors. */
export const statusesOf = (operation: Part): string[] =>
  Object.keys(isObject(operation.responses) ? operation.responses : {})
    .filter((name) => !name.startsWith('x-'))
    .toSorted((a, b) => rankOf(a) - rankOf(b));

function rankOf(status: string): number {
  if (/^2\d\d$/.test(status)) return Number(status);
  if (/^2xx$/i.test(status)) return 300;
  if (status === 'default') return 301;
  return 400 + (Number.parseInt(status, 10) || 600);
}

function numberOfStatus(status: string): number {
  if (/^[2-5]\d\d$/.test(status)) return Number(status);
  return /^[2-5]xx$/i.test(status) ? Number(status[0]) * 100 : 200;
}

/** The answer of a response by its name. @param path of the response. */
export function answerOf(status: string, response: Part, reading: DocumentReading, path: Path): Answer {
  const { resolve, sampleOf, collected } = reading;
  const plain = { status: numberOfStatus(status), headers: headersOf(response, resolve) };
  const content = isObject(response.content) ? response.content : {};
  const type = Object.keys(content).toSorted((a, b) => rankOfType(a) - rankOfType(b))[0];
  const media = type === undefined ? undefined : partOf(content[type], resolve);
  if (type === undefined || !media) return { response: plain, examples: new Map(), sampled: undefined };
  const sent = type.replace(/\*\/\*|\*$/, (all) => (all === '*/*' ? 'application/json' : 'plain'));
  const typed = { ...plain, headers: { ...plain.headers, 'content-type': sent } };
  const withBody = (body: unknown) => ({ ...typed, body: sentBody(type, body) });
  const named = examplesOf(media, resolve);
  const [first, ...others] = named;
  const asked = media.example === undefined ? others : [...named];
  const examples = new Map(asked.map(([name, value]) => [name, withBody(value)]));
  const canBeSampled = isJson(type) || /^text\/(plain|html|csv|\*)/i.test(type);
  const sampled = () => {
    const value = canBeSampled ? sampleOf(media.schema) : undefined;
    return value === undefined ? undefined : withBody(value);
  };
  const example = media.example ?? first?.[1];
  if (example !== undefined)
    return { response: withBody(example), examples, sampled: media.schema === undefined ? undefined : sampled };
  const made = sampled();
  if (!made && !canBeSampled)
    collected.skip([...path, 'content', type], 'has no example, and is not sampled; the answer is empty');
  else if (!made && media.schema !== undefined)
    collected.skip([...path, 'content', type], 'has a schema that cannot be sampled; the answer is empty');
  return { response: made ?? typed, examples, sampled: undefined };
}

const headersOf = ({ headers }: Part, resolve: Resolve): Record<string, string> =>
  Object.fromEntries(
    Object.entries(isObject(headers) ? headers : {}).flatMap(([name, given]): [string, string][] => {
      const header = partOf(given, resolve);
      const [first] = header ? examplesOf(header, resolve).values() : [];
      const value = header?.example ?? first;
      return !/^content-type$/i.test(name) && isScalar(value) ? [[name.toLowerCase(), String(value)]] : [];
    }),
  );

/** A text is sent as it is: where JSON is expected it needs quotes, unless it is JSON as examples often write it. */
const sentBody = (type: string, value: unknown): unknown =>
  typeof value !== 'string' || !isJson(type) || parsedJson(value) ? value : JSON.stringify(value);

const isJson = (type: string): boolean => /^(\*\/\*|application\/([\w.-]+\+)?json)\b/i.test(type);
/** Which of several media types is taken: JSON before others. */
export const rankOfType = (type: string): number => (/^application\/json\b/i.test(type) ? 0 : isJson(type) ? 1 : 2);

/** The examples that a media type or a header has by name. */
const examplesOf = ({ examples }: Part, resolve: Resolve): Map<string, unknown> =>
  new Map(
    Object.entries(isObject(examples) ? examples : {}).flatMap(([name, given]): [string, unknown][] => {
      const value = partOf(given, resolve)?.value;
      return value === undefined ? [] : [[name, value]];
    }),
  );

const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
