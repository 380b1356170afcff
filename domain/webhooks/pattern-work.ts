/** Patterns of users take more work for a text than whoever asked may use. */
export class PatternWorkError extends Error {
  constructor() {
    super('the patterns take too much work for this text: shorten them, or their repetitions');
    this.name = 'PatternWorkError';
  }
}

let left = Infinity;

/** Evaluates with what is left of the work, which it uses. */
export type PatternWork = <T>(evaluate: () => T) => T;

/**
 * Lets the linear patterns that `evaluate` tests use so much work together, and no more: the sum of program × text, of
 * which a core does some 45 million a second at worst. The same request is cut or not whatever else the machine does.
 * @param evaluate synchronous. Throws `PatternWorkError` where it would take more.
 */
export const withPatternWork = <T>(max: number, evaluate: () => T): T => patternWork(max)(evaluate);

/** The same for several evaluations, which share the work; within another, what they use counts there, too. */
export function patternWork(max: number): PatternWork {
  let own = max;
  return (evaluate) => {
    const before = left;
    const given = Math.min(own, before);
    left = given;
    try {
      return evaluate();
    } finally {
      const used = given - left;
      own -= used;
      left = before - used;
    }
  };
}

/** Called before a pattern is tested. @param work instructions of its program × characters of the text. */
export function usePatternWork(work: number): void {
  left -= work;
  if (left < 0) throw new PatternWorkError();
}
