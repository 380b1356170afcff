import { DIGIT, ExpressionError, ExpressionText } from './expression-text-rules.ts';
import {
  alternatives,
  CONSTRAINT,
  isTooLarge,
  NOTHING,
  repeated,
  sequence,
  SINGLE,
  type Size,
  WIDE,
} from './expression-size-rules.ts';

const COUNT_MAX = 255;
const BAD_COUNT = 'a count must be from 0 to 255, the second of two not below the first';
const BAD_OPTION = 'no such option: expressions are advanced ones, with the options c, i, m, n, p, q, s, t, w, x';
const NO_ATOM = 'a quantifier follows nothing that it could repeat';
const SPACE = /[\t-\r ]/;

/** Constraints take no quantifier. */
interface Part {
  takesCount: boolean;
  size: Size;
}
const part = (size: Size, takesCount = true): Part => ({ size, takesCount });

class Reader extends ExpressionText {
  isExpanded = false;
  isLiteral = false;
  readonly closed = new Set<number>();

  read(): void {
    this.readOptions();
    if (this.isLiteral) return;
    const size = this.alternatives(false);
    if (this.char() !== undefined) throw new ExpressionError('parentheses are not balanced');
    if (isTooLarge(size, this.told.size))
      throw new ExpressionError('counts repeat too much, or too many parts in a row may be left out');
  }

  readOptions(): void {
    if (this.eat('***=')) this.isLiteral = true;
    else if (!this.eat('***:') && this.eat('***')) throw new ExpressionError(NO_ATOM);
    const isOption = /[A-Za-z]/;
    if (this.isLiteral || this.char() !== '(' || this.char(1) !== '?' || !isOption.test(this.char(2) ?? '')) return;
    this.at += 2;
    const begin = this.at;
    while (isOption.test(this.char() ?? '')) this.at++;
    const options = this.chars.slice(begin, this.at);
    if (!options.every((option) => 'cimnpqstwx'.includes(option)) || !this.eat(')'))
      throw new ExpressionError(BAD_OPTION);
    this.isLiteral = options.includes('q');
    // `t` ends what `x` began.
    this.isExpanded = options.lastIndexOf('x') > options.lastIndexOf('t');
  }

  skip(): void {
    while (this.isExpanded) {
      while (SPACE.test(this.char() ?? '')) this.at++;
      if (this.char() !== '#') return;
      while (this.char() !== undefined && this.char() !== '\n') this.at++;
    }
  }

  alternatives(isLookaround: boolean): Size {
    const branches: Size[] = [];
    let branch = NOTHING;
    for (;;) {
      this.skip();
      const isEnd = this.char() === undefined || this.char() === ')';
      if (isEnd || this.eat('|')) {
        branches.push(branch);
        if (isEnd) return alternatives(branches);
        branch = NOTHING;
      } else if (this.eat('(?#')) this.readComment();
      else branch = sequence(branch, this.quantified(isLookaround));
    }
  }

  readComment(): void {
    while (this.char() !== undefined && !this.eat(')')) this.at++;
  }

  quantified(isLookaround: boolean): Size {
    const { size, takesCount } = this.part(isLookaround);
    this.skip();
    // A comment stands between a quantifier and its atom, as white space does.
    while (this.eat('(?#')) {
      this.readComment();
      this.skip();
    }
    const count = takesCount ? this.count() : undefined;
    return count ? repeated(size, count) : size;
  }

  /** What a quantifier says, if there is one. */
  count(): { least: number; most: number } | undefined {
    let count = { least: 0, most: 1 };
    if (this.isCountNext()) count = this.bounds();
    else if (this.eat('+')) count.least = 1;
    else if (!this.eat('*') && !this.eat('?')) return undefined;
    this.eat('?');
    return count;
  }

  /** A brace that no digit follows is a character. */
  isCountNext(): boolean {
    const begin = this.at;
    if (!this.eat('{')) return false;
    this.skip();
    const isCount = DIGIT.test(this.char() ?? '');
    this.at = begin;
    return isCount;
  }

  bounds(): { least: number; most: number } {
    this.eat('{');
    this.skip();
    const least = this.number();
    let most = least;
    if (this.eat(',')) {
      this.skip();
      most = DIGIT.test(this.char() ?? '') ? this.number() : Math.max(least, 1);
    }
    if (this.char() === undefined) throw new ExpressionError('braces are not balanced');
    if (!this.eat('}') || most < least) throw new ExpressionError(BAD_COUNT);
    return { least, most };
  }

  number(): number {
    let number = 0;
    for (; DIGIT.test(this.char() ?? ''); this.skip()) {
      number = number * 10 + Number(this.char());
      this.at++;
      if (number > COUNT_MAX) throw new ExpressionError(BAD_COUNT);
    }
    return number;
  }

  part(isLookaround: boolean): Part {
    for (const begin of ['(?=', '(?!', '(?<=', '(?<!'])
      if (this.eat(begin)) return part(sequence(CONSTRAINT, this.group(true)), false);
    if (this.eat('(?:')) return part(this.group(isLookaround));
    if (this.eat('(?')) throw new ExpressionError(NO_ATOM);
    if (this.eat('(')) {
      const number = isLookaround ? 0 : ++this.groups;
      const size = this.group(isLookaround);
      if (number > 0) this.closed.add(number);
      return part(size);
    }
    if (this.eat('[[:<:]]') || this.eat('[[:>:]]') || this.eat('^') || this.eat('$')) return part(CONSTRAINT, false);
    if (this.eat('[')) {
      this.brackets();
      return part(WIDE);
    }
    if (this.eat('\\')) return this.escaped(isLookaround);
    if (this.eat('.')) return part(WIDE);
    const char = this.char() ?? '';
    if ('*+?'.includes(char) || this.isCountNext()) throw new ExpressionError(NO_ATOM);
    this.told.add(char);
    this.at++;
    return part(SINGLE);
  }

  group(isLookaround: boolean): Size {
    const size = this.alternatives(isLookaround);
    if (!this.eat(')')) throw new ExpressionError('parentheses are not balanced');
    return size;
  }

  escaped(isLookaround: boolean): Part {
    const begin = this.at;
    const escape = this.escape();
    if (escape === 'constraint') return part(CONSTRAINT, false);
    this.told.add(this.chars.slice(begin, this.at).join(''));
    if (typeof escape === 'number') return part(SINGLE);
    if (escape === 'class') return part(WIDE);
    if (isLookaround || !this.closed.has(escape.group))
      throw new ExpressionError('a back reference leads to no group before it');
    return part(WIDE);
  }
}

/**
 * Why documents are not searched with an expression; undefined: they are. All that PostgreSQL would refuse is refused here,
 * so that the answer depends neither on it nor on what else it does: advanced expressions as its documentation has them
 * (9.7.3) and its lexer reads them (src/backend/regex/regc_lex.c), without names of collating elements.
 */
export function expressionProblem(expression: string): string | undefined {
  try {
    new Reader(expression).read();
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}
