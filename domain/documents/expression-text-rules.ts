export class ExpressionError extends Error {}

const BAD_RANGE = 'a range of characters is not one';
const BAD_ESCAPE = 'no such escape';
const OPEN_BRACKET = 'brackets are not balanced';
const CODE_POINT_MAX = 0x10ffff;
const CLASSES = new Set(
  'alpha alnum blank cntrl digit graph lower print punct space upper xdigit ascii word'.split(' '),
);
export const DIGIT = /\d/;
const ESCAPED_CHARS: Record<string, number> = { a: 7, b: 8, B: 0x5c, e: 0x1b, f: 12, n: 10, r: 13, t: 9, v: 11 };

/** What an escape stands for: a code point, or a token. */
type Escape = number | 'class' | 'constraint' | { group: number };

/** The text of an expression, read from its beginning: what stands for characters. */
export class ExpressionText {
  readonly chars: string[];
  at = 0;
  /** Groups that have begun. */
  groups = 0;
  /** What tells characters apart, which is at most as much as is written. */
  readonly told = new Set<string>();

  constructor(expression: string) {
    this.chars = Array.from(expression);
  }

  char = (ahead = 0): string | undefined => this.chars[this.at + ahead];

  eat(text: string): boolean {
    const isNext = this.chars.slice(this.at, this.at + text.length).join('') === text;
    if (isNext) this.at += text.length;
    return isNext;
  }

  escape(): Escape {
    const char = this.char();
    this.at++;
    if (char === undefined) throw new ExpressionError(BAD_ESCAPE);
    if (!/[A-Za-z0-9]/.test(char)) return char.codePointAt(0) ?? 0;
    if ('dDsSwW'.includes(char)) return 'class';
    if ('AmMyYZ'.includes(char)) return 'constraint';
    if (char === 'u') return this.digits(16, 4, 4);
    if (char === 'U') return this.digits(16, 8, 8);
    if (char === 'x') return this.digits(16, 1, 255);
    if (char === 'c') {
      const control = this.char()?.codePointAt(0);
      this.at++;
      if (control === undefined) throw new ExpressionError(BAD_ESCAPE);
      return control & 0x1f;
    }
    if (DIGIT.test(char)) return this.numeric(char);
    const code = ESCAPED_CHARS[char];
    if (code === undefined) throw new ExpressionError(BAD_ESCAPE);
    return code;
  }

  /** One digit is a back reference, more are one where there are as many groups, and else an octal code. */
  numeric(first: string): Escape {
    const begin = this.at;
    this.at--;
    if (first !== '0') {
      const group = this.digits(10, 1, 255);
      if (this.at === begin || group <= this.groups) return { group };
      this.at = begin - 1;
    }
    const code = this.digits(8, 1, 3);
    if (code <= 0xff) return code;
    this.at--;
    return code >> 3;
  }

  digits(base: number, least: number, most: number): number {
    const form = base === 16 ? /[\da-f]/i : base === 8 ? /[0-7]/ : DIGIT;
    let [value, length] = [0, 0];
    for (; length < most && form.test(this.char() ?? ''); length++, this.at++)
      value = Math.min(value * base + Number.parseInt(this.char() ?? '', base), CODE_POINT_MAX + 1);
    if (length < least || (base === 16 && value > CODE_POINT_MAX)) throw new ExpressionError(BAD_ESCAPE);
    return value;
  }

  /** Passes what is between brackets, behind the first. */
  brackets(): void {
    const begin = this.at;
    this.eat('^');
    for (let isFirst = true; isFirst || !this.eat(']'); isFirst = false) {
      const from = this.element(isFirst);
      if (this.char() !== '-' || this.char(1) === ']') continue;
      this.at++;
      const to = this.char() === '-' ? this.dash() : this.element(false, true);
      if (from === undefined || to === undefined || to < from) throw new ExpressionError(BAD_RANGE);
    }
    this.told.add(this.chars.slice(begin, this.at).join(''));
  }

  dash(): number {
    this.at++;
    return '-'.charCodeAt(0);
  }

  /** The code point of an element between brackets; undefined: it stands for several characters. */
  element(isFirst: boolean, isRangeEnd = false): number | undefined {
    const char = this.char();
    if (char === undefined) throw new ExpressionError(OPEN_BRACKET);
    if (char === ']' && isRangeEnd) throw new ExpressionError(BAD_RANGE);
    if (char === '-' && !isFirst && this.char(1) !== ']') throw new ExpressionError(BAD_RANGE);
    if (this.eat('[:')) return this.class();
    if (this.eat('[=')) {
      this.collated('=');
      return undefined;
    }
    if (this.eat('[.')) return this.collated('.');
    this.at++;
    if (char === '[' && this.char() === undefined) throw new ExpressionError(OPEN_BRACKET);
    if (char !== '\\') return char.codePointAt(0);
    const escape = this.escape();
    if (typeof escape === 'number') return escape;
    if (escape !== 'class') throw new ExpressionError(BAD_ESCAPE);
    return undefined;
  }

  class(): undefined {
    if (!CLASSES.has(this.until(':'))) throw new ExpressionError('no such class of characters');
  }

  collated(end: string): number {
    const element = Array.from(this.until(end));
    if (element.length !== 1)
      throw new ExpressionError('no such element of a collation: one character stands for itself');
    return element[0]?.codePointAt(0) ?? 0;
  }

  until(end: string): string {
    const begin = this.at;
    while (this.char() !== undefined && !(this.char() === end && this.char(1) === ']')) this.at++;
    if (this.char() === undefined) throw new ExpressionError(OPEN_BRACKET);
    this.at += 2;
    return this.chars.slice(begin, this.at - 2).join('');
  }
}
