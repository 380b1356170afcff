/** How often something must have been called: exactly, or at least and at most. */
export type CallTimes = number | { atLeast?: number | undefined; atMost?: number | undefined };

export interface Bounds {
  atLeast: number;
  atMost: number;
}

/** @param times absent: once or more. */
export function boundsOf(times: CallTimes | undefined): Bounds {
  if (times === undefined) return { atLeast: 1, atMost: Infinity };
  if (typeof times === 'number') return { atLeast: times, atMost: times };
  return { atLeast: times.atLeast ?? 0, atMost: times.atMost ?? Infinity };
}

/** What is expected of calls, by the places of the calls that match. */
export interface Expectation extends Bounds {
  /** In their order. */
  matching: readonly number[];
}

export type VerificationProblem =
  | { kind: 'count'; expectation: number; found: number }
  /** Enough calls match, but not behind those of the expectations before. */
  | { kind: 'order'; expectation: number; found: number };

/**
 * Which expectations are not met. In order: the calls that meet one come behind those that met the ones before, of which
 * each takes the earliest that it can.
 */
export function verificationProblems(expectations: readonly Expectation[], inOrder: boolean): VerificationProblem[] {
  const problems: VerificationProblem[] = [];
  let behind = -1;
  for (const [index, { matching, atLeast, atMost }] of expectations.entries()) {
    const found = matching.length;
    if (found < atLeast || found > atMost) {
      problems.push({ kind: 'count', expectation: index, found });
      continue;
    }
    if (!inOrder || atLeast === 0) continue;
    const later = matching.filter((place) => place > behind);
    const last = later[atLeast - 1];
    if (last === undefined) problems.push({ kind: 'order', expectation: index, found: later.length });
    else behind = last;
  }
  return problems;
}
