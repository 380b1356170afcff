/** Strings of a JSON text, to be skipped, and its numbers. */
const STRINGS_AND_NUMBERS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gs;
/** Without so many digits in a row and without an exponent, a number is always exact. */
const SUSPICIOUS = /\d[\d.]{15}|\d[eE][\d+-]/;

/**
 * The first number of a JSON text that parsing and printing by JavaScript would alter: `9007199254740993`, `1e400`,
 * but not `0.1` or `1.0`. Undefined when all of them survive.
 * @param text valid JSON.
 */
export function inexactNumber(text: string): string | undefined {
  if (!SUSPICIOUS.test(text)) return undefined;
  for (const [token] of text.matchAll(STRINGS_AND_NUMBERS)) {
    if (!token.startsWith('"') && SUSPICIOUS.test(token) && !survives(token)) return token;
  }
  return undefined;
}

function survives(source: string): boolean {
  const value = Number(source);
  return Number.isFinite(value) && decimal(source) === decimal(String(value));
}

/** One form for each decimal number: sign, digits without zeros at either end, power of ten. */
function decimal(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
