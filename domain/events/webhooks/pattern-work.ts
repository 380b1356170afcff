/** Patterns and tests of users take more work for a text than whoever asked may use. */
export class PatternWorkError extends Error {
  constructor(
    message = 'the patterns and tests take too much work for this text: shorten them, or the repetitions of patterns',
  ) {
    super(message);
    this.name = 'PatternWorkError';
  }
}

/** A text is too large to be read, however much work may be used. */
export class TextTooLargeError extends PatternWorkError {}

/** The patterns of a tenant have taken what all of them may take for now; in so many ms they may take more. */
export class PatternShareError extends PatternWorkError {
  readonly retryInMs: number;

  constructor(retryInMs: number) {
    super('the patterns and tests of this tenant have taken their share of the processor for now');
    this.name = 'PatternShareError';
    this.retryInMs = retryInMs;
  }
}

let left = Infinity;

/** Evaluates with what is left of the work, which it uses; `used` is how much that was. */
export type PatternWork = (<T>(evaluate: () => T) => T) & { used: () => number };

/**
 * Lets the linear patterns that `evaluate` tests use so much work together, and no more: the sum of program × text, of
 * which a core does some 45 million a second at worst. The same request is cut or not whatever else the machine does.
 * @param evaluate synchronous. Throws `PatternWorkError` where it would take more.
 */
export const withPatternWork = <T>(max: number, evaluate: () => T): T => patternWork(max)(evaluate);

/**
 * A budget of work like that of `withPatternWork` for several evaluations, which share it; within another budget, what they
 * use counts there, too.
 */
export function patternWork(max: number): PatternWork {
  let own = max;
  const work = <T>(evaluate: () => T): T => {
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
  return Object.assign(work, { used: () => max - own });
}

/** What the patterns of one tenant may take of a process for long: a quarter of a core; and at once. */
const [WORK_PER_MS, WORK_AT_ONCE] = [10_000, 2_500_000];
/** Tenants that are remembered; who has asked for nothing for a second has all of its share. */
const TENANTS_MAX = 10_000;

/** Shares of a process for the patterns of its tenants. One evaluation may take what it needs, and its tenant then waits. */
export class PatternShares {
  readonly #shares = new Map<string, { left: number; at: number }>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Evaluates like `withPatternWork`, within the tenant's share. Throws `PatternShareError` when the tenant has nothing
   * left, whatever it would take.
   */
  evaluate<T>(tenantId: string, max: number, evaluate: () => T): T {
    const retryInMs = this.retryInMs(tenantId);
    if (retryInMs > 0) throw new PatternShareError(retryInMs);
    const work = patternWork(max);
    try {
      return work(evaluate);
    } finally {
      this.spend(tenantId, work.used());
    }
  }

  /** In how many ms a tenant may evaluate again; 0: now. */
  retryInMs(tenantId: string): number {
    const share = this.#shareOf(tenantId);
    return share.left > 0 ? 0 : Math.ceil((1 - share.left) / WORK_PER_MS);
  }

  /** Takes what was used elsewhere for a tenant from its share. */
  spend(tenantId: string, work: number): void {
    this.#shareOf(tenantId).left -= work;
  }

  #shareOf(tenantId: string): { left: number; at: number } {
    const now = this.#now();
    const share = this.#shares.get(tenantId) ?? { left: WORK_AT_ONCE, at: now };
    share.left = Math.min(WORK_AT_ONCE, share.left + (now - share.at) * WORK_PER_MS);
    share.at = now;
    this.#shares.delete(tenantId);
    this.#shares.set(tenantId, share);
    const [oldest] = this.#shares.keys();
    if (this.#shares.size > TENANTS_MAX && oldest !== undefined) this.#shares.delete(oldest);
    return share;
  }
}

/**
 * Called before a pattern or another test is evaluated.
 * @param work of a pattern: instructions of its program × characters of the text; of others what takes as long, 22 ns each.
 */
export function usePatternWork(work: number): void {
  if (work > left) throw new PatternWorkError();
  left -= work;
}

/** Ends an evaluation for a text that is too large for it. Outside an evaluation it does nothing. */
export function cutPatternWork(reason: string): void {
  if (left !== Infinity) throw new TextTooLargeError(reason);
}
