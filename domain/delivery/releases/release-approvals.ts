import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { CandidateName } from '../release-candidates/release-candidates.queries.ts';
import type { EnvironmentRecord } from './measures/environment-records.queries.ts';
import { newestApprovals } from './releases.queries.ts';

/** How a release was approved for an environment. */
export interface ReleaseApproval {
  status: string;
  requestedBy: string | null;
  approvedBy: string | null;
  approvedAt: string | null;
  /** From the request to the decision. */
  responseTimeMs: number | null;
  /** `flow`: given in this service; `report`: as the deployment was reported. */
  source: 'flow' | 'report';
}

const keyOf = ({ domain, releaseName, environmentId }: CandidateName & { environmentId: string | null }) =>
  `${domain}\n${releaseName}\n${environmentId}`;

/** The newest approval of each of some releases in an environment, else what its deployment reported of one. */
export async function approvalsOfReleases(
  reads: Reads,
  projectId: string,
  releases: readonly CandidateName[],
): Promise<(record: EnvironmentRecord) => ReleaseApproval | null> {
  const rows = await newestApprovals(reads, projectId, releases);
  const approvals = new Map(
    rows.map((row): [string, ReleaseApproval] => {
      const { status, requestedBy, resolvedBy, resolvedAt, responseTimeMs } = row;
      const isApproved = status === 'approved';
      return [
        keyOf(row),
        {
          status,
          requestedBy,
          approvedBy: isApproved ? resolvedBy : null,
          approvedAt: isApproved ? resolvedAt : null,
          responseTimeMs,
          source: 'flow',
        },
      ];
    }),
  );
  return (record) => approvals.get(keyOf(record)) ?? reportedApproval(record.approval);
}

/** An approval that was given elsewhere, as a pipeline reported it: an open object. */
function reportedApproval(approval: Record<string, unknown> | null): ReleaseApproval | null {
  if (!approval) return null;
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const { status, requestedBy, approvedBy, approvedAt, responseTimeMs } = approval;
  const at = Date.parse(text(approvedAt) ?? '');
  return {
    status: text(status) ?? 'approved',
    requestedBy: text(requestedBy),
    approvedBy: text(approvedBy),
    approvedAt: Number.isNaN(at) ? null : new Date(at).toISOString(),
    responseTimeMs: typeof responseTimeMs === 'number' ? responseTimeMs : null,
    source: 'report',
  };
}
