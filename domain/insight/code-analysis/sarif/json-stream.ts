import { Tokenizer, TokenizerError, TokenType, type ParsedTokenInfo } from '@streamparser/json';
import type { JsonPath } from './sarif-rules.ts';

/** A JSON text that is refused; the path leads to what is wrong. */
export class JsonRefused extends Error {
  readonly path: JsonPath;
  /** The text is not JSON at all. */
  readonly isMalformed: boolean;
  /** It is larger than any text that would be taken. */
  readonly isTooLarge: boolean;

  constructor(message: string, path: JsonPath, { isMalformed = false, isTooLarge = false } = {}) {
    super(message);
    this.path = path;
    this.isMalformed = isMalformed;
    this.isTooLarge = isTooLarge;
  }
}

export interface JsonLimits {
  levels: number;
  /** Members and elements that are kept at once. */
  values: number;
  /** Bytes of one string or number, or of the white space between two values. */
  tokenBytes: number;
}

/** What is shown of a text while it is read: values down to so many levels below the root. */
export interface JsonHooks {
  levels: number;
  /** An object or array begins; `offset` is that of its first byte. */
  opened: (path: JsonPath, offset: number) => void;
  /** A value is complete; `offset` is that of its last token. Answers whether its parent keeps it. */
  closed: (path: JsonPath, value: unknown, offset: number) => boolean;
}

type Container = Record<string, unknown> | unknown[];

interface Frame {
  value: Container;
  isArray: boolean;
  /** Name of the member, or place of the element, that is read. */
  key: string | number;
  /** Values that were kept before it began. */
  heldBefore: number;
}

/** What may come next. */
type State = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'commaOrEnd' | 'done';

/** What the decoder throws. */
const NOT_UTF_8 = 'ERR_ENCODING_INVALID_ENCODED_DATA';
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * Builds the value of a JSON text that arrives in pieces, without those parts that its reader does not keep. Levels are
 * counted as they open, so that deep nesting costs nothing; a member that is given twice is refused, because readers
 * differ in which one counts.
 */
export class JsonStream {
  readonly #tokenizer = new Tokenizer();
  readonly #hooks: JsonHooks;
  readonly #limits: JsonLimits;
  readonly #frames: Frame[] = [];
  /** Names and places from the root to what is read. */
  readonly #path: (string | number)[] = [];
  #state: State = 'value';
  #held = 0;
  #root: unknown;
  #received = 0;
  #lastToken = 0;
  #marks = 0;

  constructor(hooks: JsonHooks, limits: JsonLimits) {
    this.#hooks = hooks;
    this.#limits = limits;
    this.#tokenizer.onToken = (token) => this.#take(token);
  }

  /** Reads the next bytes. Offsets count from the first byte after a byte order mark. Throws `JsonRefused`. */
  write(given: Uint8Array): Uint8Array {
    const bytes = this.#withoutMark(given);
    this.#guarded(() => this.#tokenizer.write(bytes));
    this.#received += bytes.byteLength;
    if (this.#received - this.#lastToken > this.#limits.tokenBytes && this.#state !== 'done')
      throw new JsonRefused(
        `more than ${this.#limits.tokenBytes} bytes of one string, number or white space`,
        this.#path,
        { isTooLarge: true },
      );
    return bytes;
  }

  /** The text is complete; its value, as far as it was kept. Throws `JsonRefused`. */
  end(): unknown {
    this.#guarded(() => this.#tokenizer.end());
    if (this.#state !== 'done') throw new JsonRefused('the text ends before it is complete', [], { isMalformed: true });
    return this.#root;
  }

  /** Bytes that were read so far. */
  get received(): number {
    return this.#received;
  }

  #withoutMark(bytes: Uint8Array): Uint8Array {
    let at = 0;
    while (this.#received === 0 && this.#marks < 3 && bytes[at] === BYTE_ORDER_MARK[this.#marks]) {
      at++;
      this.#marks++;
    }
    return at === 0 ? bytes : bytes.subarray(at);
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof TokenizerError) && (error as NodeJS.ErrnoException).code !== NOT_UTF_8) throw error;
      throw new JsonRefused((error as Error).message.split('. Either')[0] ?? '', [], { isMalformed: true });
    }
  }

  #take({ token, value, offset }: ParsedTokenInfo): void {
    this.#lastToken = offset;
    const state = this.#state;
    if (token === TokenType.COMMA) {
      if (state !== 'commaOrEnd') return this.#unexpected(',');
      this.#state = this.#frames.at(-1)?.isArray === true ? 'value' : 'key';
      return;
    }
    if (token === TokenType.COLON) {
      if (state !== 'colon') return this.#unexpected(':');
      this.#state = 'value';
      return;
    }
    if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET)
      return this.#close(token === TokenType.RIGHT_BRACKET, offset);
    if (token === TokenType.STRING && (state === 'key' || state === 'keyOrEnd')) return this.#name(value as string);
    if (state !== 'value' && state !== 'valueOrEnd') return this.#unexpected(String(value).slice(0, 40));
    if (++this.#held > this.#limits.values)
      throw new JsonRefused(
        `more than ${this.#limits.values.toLocaleString('en')} members and elements, results not counted`,
        this.#path,
      );
    this.#place();
    if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET)
      return this.#open(token === TokenType.LEFT_BRACKET, offset);
    this.#complete(value, offset);
  }

  #unexpected(text: string): never {
    throw new JsonRefused(`unexpected ${JSON.stringify(text)}`, this.#path, { isMalformed: true });
  }

  #name(name: string): void {
    const frame = this.#frames.at(-1);
    if (!frame) return this.#unexpected(name);
    if (Object.hasOwn(frame.value, name))
      throw new JsonRefused('the member is given twice', [...this.#path.slice(0, this.#frames.length - 1), name]);
    frame.key = name;
    this.#state = 'colon';
  }

  /** The path of the value that begins. */
  #place(): void {
    const frame = this.#frames.at(-1);
    if (!frame) return;
    if (frame.isArray) frame.key = (frame.key as number) + 1;
    this.#path.length = this.#frames.length;
    this.#path[this.#frames.length - 1] = frame.key;
  }

  #open(isArray: boolean, offset: number): void {
    if (this.#frames.length >= this.#limits.levels)
      throw new JsonRefused(`nested deeper than ${this.#limits.levels} levels`, this.#path.slice(0, 10));
    if (this.#frames.length <= this.#hooks.levels) this.#hooks.opened(this.#path, offset);
    this.#frames.push({ value: isArray ? [] : {}, isArray, key: isArray ? -1 : '', heldBefore: this.#held });
    this.#state = isArray ? 'valueOrEnd' : 'keyOrEnd';
  }

  #close(isArray: boolean, offset: number): void {
    const frame = this.#frames.at(-1);
    const isEnd = this.#state === 'commaOrEnd' || this.#state === (isArray ? 'valueOrEnd' : 'keyOrEnd');
    if (!frame || frame.isArray !== isArray || !isEnd) return this.#unexpected(isArray ? ']' : '}');
    this.#frames.pop();
    this.#path.length = this.#frames.length;
    if (!this.#complete(frame.value, offset)) this.#held = frame.heldBefore - 1;
  }

  #complete(value: unknown, offset: number): boolean {
    const parent = this.#frames.at(-1);
    const isKept = this.#frames.length > this.#hooks.levels || this.#hooks.closed(this.#path, value, offset);
    this.#state = parent ? 'commaOrEnd' : 'done';
    if (!parent) this.#root = value;
    else if (isKept) keep(parent, value);
    return isKept;
  }
}

function keep({ value: parent, key }: Frame, value: unknown): void {
  if (Array.isArray(parent)) parent.push(value);
  // As a plain assignment it would set the prototype.
  else if (key === '__proto__') Object.defineProperty(parent, key, { value, enumerable: true });
  else parent[key as string] = value;
}
