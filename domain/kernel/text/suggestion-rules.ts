/** Longer words are not compared: the cost grows with the product of the lengths. */
const WORD_MAX = 64;
const KNOWN_MAX = 1_000;
/** How many of the letters of a word may differ from the one that was meant. */
const SHARE = 1 / 3;
const LETTERS = 64;

/**
 * Changes of one letter (inserted, removed, replaced, or swapped with the next) from one word to another; infinite when
 * they are more than `limit`.
 */
function distance(from: string, to: string, limit: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  let leastOfLast = 0;
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const changes = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[column - 2] ?? Infinity) + 1 : Infinity,
      );
      current[column] = changes;
      least = Math.min(least, changes);
    }
    // The next row builds on this one, or by a swap on the one before.
    if (Math.min(least, leastOfLast + 1) > limit) return Infinity;
    [beforeLast, last, leastOfLast] = [last, current, least];
  }
  const changes = last[to.length] ?? Infinity;
  return changes > limit ? Infinity : changes;
}

/** How often each letter occurs in a word, by its code; letters of one remainder are counted together. */
function letterCounts(word: string): Int8Array {
  const counts = new Int8Array(LETTERS);
  for (let index = 0; index < word.length; index++) {
    const letter = word.charCodeAt(index) % LETTERS;
    counts[letter] = (counts[letter] ?? 0) + 1;
  }
  return counts;
}

/** At least so many changes lead from a word with these letters to another one: a cheap lower bound. */
function leastChanges(counts: Int8Array, word: string): number {
  const left = Int8Array.from(counts);
  let added = 0;
  for (let index = 0; index < word.length; index++) {
    const letter = word.charCodeAt(index) % LETTERS;
    const count = left[letter] ?? 0;
    if (count > 0) left[letter] = count - 1;
    else added++;
  }
  return added;
}

/**
 * The known word that a misspelt one probably means: the nearest of those of which at most a third of the letters
 * differ, otherwise the only one that begins or ends with it. Upper and lower case are alike.
 */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  if (word === '' || word.length > WORD_MAX) return undefined;
  const given = word.toLowerCase();
  let nearest: string | undefined;
  let least = Infinity;
  const counts = letterCounts(given);
  const candidates = known.slice(0, KNOWN_MAX).filter((each) => each !== word && each.length <= WORD_MAX);
  for (const candidate of candidates) {
    const length = Math.max(given.length, candidate.length);
    const limit = Math.min(Math.max(1, Math.floor(length * SHARE)), least - 1, length - 1);
    if (Math.abs(given.length - candidate.length) > limit) continue;
    const name = candidate.toLowerCase();
    if (leastChanges(counts, name) > limit) continue;
    const changes = distance(given, name, limit);
    if (changes <= limit) [nearest, least] = [candidate, changes];
  }
  if (nearest !== undefined || given.length < 3) return nearest;
  const longer = candidates.filter((each) => {
    const name = each.toLowerCase();
    return name.startsWith(given) || name.endsWith(given);
  });
  return longer.length === 1 ? longer[0] : undefined;
}

/** The end of a message about an unknown word: `; did you mean production?`, or nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const nearest = nearestWord(word, known);
  return nearest === undefined ? '' : `; did you mean ${nearest}?`;
}
