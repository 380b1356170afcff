/** What the results of an analysis must keep to. A missing limit means none. */
export interface QualityGate {
  maxErrors?: number;
  maxNewErrors?: number;
  maxNewWarnings?: number;
}

/** Whether results keep to the quality gate; `none`: the project has none. */
export interface Gate {
  status: 'passed' | 'failed' | 'none';
  /** A sentence for each limit that is exceeded. */
  reasons: string[];
}

/** What the gate counts. */
export interface GateCounts {
  errors: number;
  newErrors: number;
  newWarnings: number;
}

/** Holds results against the quality gate of a project. */
export function judge(gate: QualityGate | undefined, { errors, newErrors, newWarnings }: GateCounts): Gate {
  const limits = [
    [gate?.maxErrors, errors, 'errors'],
    [gate?.maxNewErrors, newErrors, 'new errors'],
    [gate?.maxNewWarnings, newWarnings, 'new warnings'],
  ] as const;
  if (limits.every(([limit]) => limit === undefined)) return { status: 'none', reasons: [] };
  const reasons = limits.flatMap(([limit, count, what]) =>
    limit !== undefined && count > limit ? [`${count} ${what}, at most ${limit} allowed`] : [],
  );
  return { status: reasons.length === 0 ? 'passed' : 'failed', reasons };
}

/** The context of the commit status at the git host. */
export const STATUS_CONTEXT = 'quayside/code-analysis';

/** The commit status of a gate: its state, and a description in one line. */
export const statusOfGate = ({ status, reasons }: Gate, totalIssues: number) =>
  status === 'failed'
    ? ({ state: 'failure', description: reasons.join('; ') } as const)
    : ({ state: 'success', description: `${totalIssues} ${totalIssues === 1 ? 'issue' : 'issues'}` } as const);
