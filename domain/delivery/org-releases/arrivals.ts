import type { PackageDetail } from '../deployments/deployments.entities.ts';
import { versionOf } from '../deployments/report-rules.ts';
import type { StepState } from '../org-steps/org-step-rules.ts';
import type { StepRow } from '../org-steps/org-steps.queries.ts';

/** What a step says of the candidate that it is a part of. */
interface CarryingIntent {
  /** Names of its artifacts that the step brings. */
  artifacts?: readonly string[];
  /** A rollback cannot take them back. */
  isLeft?: boolean;
}

type Step = Pick<StepRow, 'intent' | 'state' | 'error' | 'detail' | 'externalId' | 'orgId'>;

const intentOf = ({ intent }: Pick<Step, 'intent'>) => intent as CarryingIntent;

/** Whether a step has done its part, or had nothing to do, as the org had it. */
const hasArrived = (step: Step): boolean =>
  step.state === 'succeeded' || (step.state === 'skipped' && intentOf(step).isLeft !== true);

const MAY_HAVE_DONE: ReadonlySet<StepState> = new Set(['asked', 'begun', 'succeeded', 'unknown']);

/** Whether an org may have changed by one of the steps of a run. */
export const hasChangedOrg = (steps: readonly Pick<Step, 'state' | 'externalId' | 'orgId'>[]): boolean =>
  steps.some(({ orgId, state, externalId }) => orgId !== null && (MAY_HAVE_DONE.has(state) || externalId !== null));

/** What of a candidate an org has by the steps of a run. */
export interface Arrivals {
  /** Artifacts that are there: name to version. */
  packages: Record<string, string>;
  details: PackageDetail[];
}

const WORDS: Partial<Record<StepState, string>> = { succeeded: 'installed', unknown: 'unknown', failed: 'failed' };

/** What became of the artifacts of a candidate: one is there where each step that brings it is through. */
export function arrivalsOf(steps: readonly Step[], artifacts: Readonly<Record<string, string>>): Arrivals {
  const packages: Record<string, string> = {};
  const details: PackageDetail[] = [];
  for (const name of Object.keys(artifacts)) {
    const version = versionOf(artifacts, name) ?? '';
    const bringing = steps.filter((step) => intentOf(step).artifacts?.includes(name));
    const missing = bringing.find((step) => !hasArrived(step));
    const last = missing ?? bringing.at(-1);
    if (!last) continue;
    if (!missing) packages[name] = version;
    const isThere = !missing && last.state === 'skipped';
    details.push({
      name,
      version,
      status: isThere ? 'skipped' : (WORDS[last.state] ?? 'not installed'),
      ...(isThere && { skipped: true }),
      ...(missing && { error: missing.error ?? missing.detail ?? 'it was not begun' }),
    });
  }
  return { packages, details };
}
