/** Characters of the file from the start of a line on that its hash is of. */
const WINDOW = 100;
const FACTOR = 37;
/** What stands for the end of the file. */
const END = 65_535;
const [TAB, LF, CR, SPACE] = [9, 10, 13, 32];
const WORD = 2 ** 32;

/** FACTOR ** WINDOW modulo 2^64, in two words. */
const [FIRST_HIGH, FIRST_LOW] = ((): [number, number] => {
  const power = BigInt.asUintN(64, BigInt(FACTOR) ** BigInt(WINDOW));
  return [Number(power >> 32n), Number(power & 0xffffffffn)];
})();

const hexOf = (high: number, low: number): string =>
  high === 0 ? low.toString(16) : high.toString(16) + low.toString(16).padStart(8, '0');

/**
 * `primaryLocationLineHash` of every line of a file, by the algorithm that GitHub publishes: a rolling hash of the next
 * 100 UTF-16 code units without spaces and tabs, where CR, LF and CRLF are one LF, and how many of the file's lines had
 * the same so far. Line n is at n − 1.
 */
export function lineHashes(text: string): string[] {
  const window = new Uint16Array(WINDOW);
  const lineAt = new Int32Array(WINDOW).fill(-1);
  const counts = new Map<string, number>();
  const hashes: string[] = [];
  // A double holds the products of a word and a code unit exactly, which makes this faster than BigInt by far.
  let [high, low, index, line] = [0, 0, 0, 0];
  let isLineStart = true;
  let isAfterReturn = false;

  const output = () => {
    const number = lineAt[index] ?? -1;
    if (number === -1) return;
    const hash = hexOf(high, low);
    const count = (counts.get(hash) ?? 0) + 1;
    counts.set(hash, count);
    hashes[number] = `${hash}:${count}`;
    lineAt[index] = -1;
  };
  const update = (unit: number) => {
    const first = window[index] ?? 0;
    window[index] = unit;
    const sum = low * FACTOR + unit;
    const product = FIRST_LOW * first;
    const difference = (sum % WORD) - (product % WORD);
    const borrow = difference < 0 ? 1 : 0;
    const carry = Math.floor(sum / WORD) - Math.floor(product / WORD) - borrow;
    low = difference + borrow * WORD;
    high = (((high * FACTOR + carry - ((FIRST_HIGH * first) % WORD)) % WORD) + WORD) % WORD;
    index = (index + 1) % WINDOW;
  };
  const take = (given: number) => {
    if (given === SPACE || given === TAB || (isAfterReturn && given === LF)) {
      isAfterReturn = false;
      return;
    }
    isAfterReturn = given === CR;
    const unit = isAfterReturn ? LF : given;
    output();
    if (isLineStart) lineAt[index] = line++;
    isLineStart = unit === LF;
    update(unit);
  };

  for (let at = 0; at < text.length; at++) take(text.charCodeAt(at));
  take(END);
  for (let rest = 0; rest < WINDOW; rest++) {
    output();
    update(0);
  }
  return hashes;
}
