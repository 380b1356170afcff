import type { DeploymentStatus } from '../release-candidates/finalization-rules.ts';
import { type DisplayStatus, displayOf, type FinalStatus } from './run-status-rules.ts';

/** What a run deploys, and to where, as it was when its work began: the candidate may be replaced meanwhile. */
export interface DeployedContent {
  environmentIds: readonly string[];
  /** Null when there was none any more. */
  candidateId: string | null;
  contentDigest: string;
  /** Package name to version. */
  artifacts: Readonly<Record<string, string>>;
  /** The release that a rollback takes back; null when nothing of it was installed. Absent: it is no rollback. */
  rolledBackFrom?: string | null;
}

const STATUSES: Partial<Record<DisplayStatus, DeploymentStatus>> = {
  Completed: 'Success',
  Partial: 'Partial',
  Cancelled: 'Cancelled',
};

/** How the deployment of a run ended; what has arrived of one that did not succeed is a part. */
export function deploymentStatusOf(
  status: FinalStatus,
  steps: readonly { orgId: string | null; state: string }[] = [],
): DeploymentStatus {
  const ended = STATUSES[displayOf(status)] ?? 'Failed';
  const hasArrived = steps.some(({ orgId, state }) => orgId !== null && state === 'succeeded');
  return ended !== 'Success' && hasArrived ? 'Partial' : ended;
}

interface Ended {
  status: FinalStatus;
  error?: string | undefined;
}

/** How a run ends whose command has ended: as that reported before, unless it failed then. */
export const endOfCommand = <Own extends Ended>(own: Own, reported: Ended | null): Own =>
  reported && own.status === 'succeeded' ? { ...own, status: reported.status, error: reported.error } : own;

/** What of a run shows that its work began, or may have. */
export interface WorkFacts {
  /** False: an external worker executes the run, and began it before it was registered. */
  hasWorkflow: boolean;
  programStartedAt: string | null;
  dispatchTriedAt: string | null;
}

/** Whether something may have been deployed: a run that ends at its gates, or cannot be started, deploys nothing. */
export const hasWorkBegun = ({ hasWorkflow, programStartedAt, dispatchTriedAt }: WorkFacts): boolean =>
  !hasWorkflow || programStartedAt !== null || dispatchTriedAt !== null;
