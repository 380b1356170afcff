import type { QualityGate } from '../../../projects/policies/quality-gate-rules.ts';
import { type CutSides, droppedOf, isCut, whyIncomplete } from '../sarif/cut-rules.ts';

/** Whether results keep to the quality gate; `none`: the project has none; `unknown`: too few of them are kept to tell. */
export interface Gate {
  status: 'passed' | 'failed' | 'none' | 'unknown';
  /** A sentence for each limit that is exceeded; of `unknown` for each that may be, and why that is not known. */
  reasons: string[];
}

/** What is certain of a number of which only a part could be counted. */
interface Bounds {
  least: number;
  most: number;
}

/** What the gate counts. */
type GateCounts = Record<'errors' | 'newErrors' | 'newWarnings', Bounds>;

/** Numbers of the issues that are kept; `whole`: of the new ones, those of tools that the base has whole. */
interface KeptCounts {
  errors: number;
  newErrors: number;
  newWarnings: number;
  wholeNewErrors: number;
  wholeNewWarnings: number;
}

/**
 * What is certain when results are cut: each one that the head does not keep may be a new error or warning, and each
 * one that the base does not keep may be the same as one that looks new.
 */
export function boundsOf(kept: KeptCounts, { base, head }: CutSides): GateCounts {
  const unseen = droppedOf(head);
  const newOnes = (count: number, whole: number): Bounds =>
    base ? { least: Math.max(whole, count - droppedOf(base)), most: count + unseen } : { least: count, most: count };
  return {
    errors: { least: kept.errors, most: kept.errors + unseen },
    newErrors: newOnes(kept.newErrors, kept.wholeNewErrors),
    newWarnings: newOnes(kept.newWarnings, kept.wholeNewWarnings),
  };
}

const spelled = ({ least, most }: Bounds): string => (least === most ? String(least) : `${least} to ${most}`);

/** Holds results against the quality gate of a project; fails and passes only what is certain. */
export function judge(gate: QualityGate | undefined, counts: GateCounts, sides: CutSides): Gate {
  const limits = [
    { limit: gate?.maxErrors, count: counts.errors, what: 'errors' },
    { limit: gate?.maxNewErrors, count: counts.newErrors, what: 'new errors' },
    { limit: gate?.maxNewWarnings, count: counts.newWarnings, what: 'new warnings' },
  ].flatMap(({ limit, ...rest }) => (limit === undefined ? [] : [{ limit, ...rest }]));
  if (limits.length === 0) return { status: 'none', reasons: [] };
  const sentences = (found: typeof limits) =>
    found.map(({ limit, count, what }) => `${spelled(count)} ${what}, at most ${limit} allowed`);
  const exceeded = limits.filter(({ limit, count }) => count.least > limit);
  if (exceeded.length > 0) return { status: 'failed', reasons: sentences(exceeded) };
  const uncertain = limits.filter(({ limit, count }) => count.most > limit);
  if (uncertain.length === 0) return { status: 'passed', reasons: [] };
  return { status: 'unknown', reasons: [...sentences(uncertain), whyIncomplete(sides) ?? ''] };
}

/** The context of the commit status at the git host. */
export const STATUS_CONTEXT = 'quayside/code-analysis';

/** The commit status of a gate: its state, and a description in one line. What is not known is no success. */
export function statusOfGate({ status, reasons }: Gate, summary: CutSides['head'] & { totalIssues: number }) {
  if (status === 'failed') return { state: 'failure', description: reasons.join('; ') } as const;
  if (status === 'unknown') return { state: 'error', description: `Unknown: ${reasons.join('; ')}` } as const;
  const { totalIssues } = summary;
  const issues = `${totalIssues} ${totalIssues === 1 ? 'issue' : 'issues'}`;
  return { state: 'success', description: isCut(summary) ? `At least ${issues}` : issues } as const;
}
