/** What PostgreSQL cannot store as text: U+0000, and surrogates without a pair. */
interface Unstorable {
  problem: string;
  path: string[];
}

/**
 * The first text of a JSON value, or name of a member, that cannot be stored. Paths are only made for one that is found: they
 * may be long.
 */
export function unstorable(value: unknown): Unstorable | undefined {
  if (typeof value === 'string') {
    const problem = textProblem(value);
    return problem === undefined ? undefined : { problem, path: [] };
  }
  if (value === null || typeof value !== 'object') return undefined;
  for (const [key, member] of Object.entries(value)) {
    const problem = textProblem(key);
    const found = problem === undefined ? unstorable(member) : { problem, path: [] };
    if (found) return { ...found, path: [key.toWellFormed().replaceAll('\0', ''), ...found.path] };
  }
  return undefined;
}

function textProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'contains U+0000';
  return text.isWellFormed() ? undefined : 'contains an unpaired surrogate';
}
