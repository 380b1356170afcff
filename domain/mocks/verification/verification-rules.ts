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
  /** Places of calls of which it is not known whether they match, in their order. */
  unknown: readonly number[];
}

export type VerificationProblem =
  | { kind: 'count'; expectation: number; found: number }
  /** Enough calls match, but not behind those of the expectations before. */
  | { kind: 'order'; expectation: number; found: number }
  /** It would be met or not by what is not known of some calls; `found` match without doubt. */
  | { kind: 'unknown'; expectation: number; found: number };

/**
 * Which expectations are not met, and of which it is not known. In order: the calls that meet one come behind those that met the ones before, of which
 * each takes the earliest that it can.
 */
export function verificationProblems(expectations: readonly Expectation[], inOrder: boolean): VerificationProblem[] {
  const without = problemsOf(expectations, inOrder);
  if (expectations.every(({ unknown }) => unknown.length === 0)) return without;
  // More calls never break an order, and a count between two that are allowed is allowed.
  const widest = expectations.map(({ matching, unknown, ...bounds }) => ({
    ...bounds,
    matching: [...matching, ...unknown].toSorted((a, b) => a - b),
  }));
  const withAll = new Map(problemsOf(widest, inOrder).map((problem) => [problem.expectation, problem]));
  return expectations.flatMap(({ matching, atLeast }, expectation) => {
    const least = without.find((problem) => problem.expectation === expectation);
    const most = withAll.get(expectation);
    if (!least && !most) return [];
    const isCertain =
      least && most?.kind === least.kind && (least.kind === 'order' || isSameSide(least, most, atLeast));
    return [isCertain ? least : { kind: 'unknown', expectation, found: matching.length }];
  });
}

const isSameSide = (a: { found: number }, b: { found: number }, atLeast: number): boolean =>
  a.found < atLeast === b.found < atLeast;

function problemsOf(
  expectations: readonly Omit<Expectation, 'unknown'>[],
  inOrder: boolean,
): Exclude<VerificationProblem, { kind: 'unknown' }>[] {
  const problems: Exclude<VerificationProblem, { kind: 'unknown' }>[] = [];
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
