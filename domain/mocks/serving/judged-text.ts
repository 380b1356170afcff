import { SEARCHED_MAX } from '../../events/webhooks/linear-regex.ts';
import { usePatternWork } from '../../events/webhooks/pattern-work.ts';
import { type ReadJson, readJson } from './mock-request.ts';
import { LEFT_OUT } from '../recording/secret-fields.ts';
import { containsText } from '../text-search-rules.ts';
import { canonicalXml, XML_TEXT_MAX, type XmlOrder } from '../scenarios/xml-equality.ts';

export const UNJUDGED = ['TOO_LARGE', 'NOT_KEPT'] as const;
/** Why it is not known whether a request passes a test: it is too large for that, or that part of a call is not kept. */
export type Unjudged = (typeof UNJUDGED)[number];

/** What cannot be judged passes no test, nor the opposite of one. */
export class UnjudgedError extends Error {
  readonly reason: Unjudged;

  constructor(reason: Unjudged) {
    super(reason);
    this.reason = reason;
  }
}

/** Instead of a value of a noted call that was not kept. */
export const NOT_KEPT = Object.freeze({ toJSON: () => LEFT_OUT });

/** A value that was kept, as it is. Throws `UnjudgedError` for one that was not kept. */
export function keptValue<T>(value: T): T {
  if ((value as unknown) === NOT_KEPT) throw new UnjudgedError('NOT_KEPT');
  return value;
}

/** What a test says, or why it says nothing. */
export function judged(test: () => boolean): boolean | Unjudged {
  try {
    return test();
  } catch (error) {
    if (error instanceof UnjudgedError) return error.reason;
    throw error;
  }
}

/** Units of pattern work for each character, by what is done with a text; measured with the worst texts of each kind. */
const UNITS = { compared: 0.1, searched: 1, normalized: 3 };
/** For a test of any text, however short. */
const TEST_UNITS = 2;
/** Values of a JSON text in which paths are looked up. */
const JSON_VALUES_MAX = 20_000;

/**
 * A text of a request as tests judge it. What they need of it is read once, however many ask; all of it uses the work of
 * patterns. Where a text is too large, tests throw `UnjudgedError`.
 */
export class JudgedText {
  readonly #known: string | undefined;
  #lowerCase: string | undefined;
  #json: { read: ReadJson } | undefined;
  readonly #xml = new Map<XmlOrder | undefined, string | undefined>();
  readonly #isJson: boolean = false;

  /** @param text undefined: it was not kept, but perhaps `json`, the JSON that it was, of so many values at most. */
  constructor(text: string | undefined, json?: { value: unknown; values: number }) {
    this.#known = text;
    if (json) [this.#json, this.#isJson] = [{ read: json }, true];
  }

  get #text(): string {
    if (this.#known === undefined) throw new UnjudgedError('NOT_KEPT');
    return this.#known;
  }

  equals(wanted: string): boolean {
    usePatternWork(TEST_UNITS + (this.#text.length === wanted.length ? UNITS.compared * wanted.length : 0));
    return this.#text === wanted;
  }

  /** @param wanted in lower case. */
  equalsInLowerCase(wanted: string): boolean {
    if (this.#lowerCase === undefined) {
      usePatternWork(UNITS.normalized * this.#text.length);
      this.#lowerCase = this.#text.toLowerCase();
    }
    usePatternWork(TEST_UNITS + UNITS.compared * wanted.length);
    return this.#lowerCase === wanted;
  }

  contains(wanted: string): boolean {
    usePatternWork(TEST_UNITS + UNITS.searched * (this.#text.length + wanted.length));
    return containsText(this.#text, wanted);
  }

  /** @param pattern uses work itself; of a longer text it would search only a part. */
  matches(pattern: (text: string) => boolean): boolean {
    usePatternWork(TEST_UNITS);
    if (this.#text.length > SEARCHED_MAX) throw new UnjudgedError('TOO_LARGE');
    return pattern(this.#text);
  }

  /** @param test uses work itself. */
  isDate(test: (text: string) => boolean): boolean {
    return test(this.#text);
  }

  /** The JSON that the text is, with the number of its values; undefined for another text. */
  json(): Exclude<ReadJson, 'too_large'> {
    usePatternWork(TEST_UNITS);
    const { read } = (this.#json ??= { read: readJson(this.#text, JSON_VALUES_MAX) });
    if (read === 'too_large') throw new UnjudgedError('TOO_LARGE');
    return read;
  }

  /** The text that stands for equal XML, see `canonicalXml`; undefined for another text. */
  xml(anyOrder?: XmlOrder): string | undefined {
    usePatternWork(TEST_UNITS);
    if (this.#isJson) return undefined;
    if (!this.#xml.has(anyOrder)) {
      if (this.#text.length > XML_TEXT_MAX) throw new UnjudgedError('TOO_LARGE');
      this.#xml.set(anyOrder, canonicalXml(this.#text, anyOrder));
    }
    return this.#xml.get(anyOrder);
  }
}
