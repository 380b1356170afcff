import { approvalById } from '../approvals/approvals.queries.ts';
import { votesOf } from '../approvals/approval-steps.queries.ts';
import type { Reads } from '../data/fenced-reads.ts';
import { findCandidate } from '../release-candidates/release-candidates.queries.ts';
import { DomainError } from '../shared/errors.ts';
import type { ShownApproval } from './approval-message-rules.ts';

/** What messages show of an approval now; undefined where there is none of that id. */
export async function shownApproval(reads: Reads, id: string): Promise<ShownApproval | undefined> {
  const approval = await approvalById(reads, id).catch((error: unknown) => {
    if (error instanceof DomainError && error.code === 'not_found') return undefined;
    throw error;
  });
  if (!approval) return undefined;
  const votes = await votesOf(reads, id);
  const { projectId, environmentName, domain, releaseName } = approval;
  const candidate =
    projectId !== null && domain !== null && releaseName !== null
      ? await findCandidate(reads, projectId, { domain, releaseName })
      : undefined;
  const orgUsername = projectId === null ? null : await orgNamedBy(reads, projectId, environmentName);
  return {
    ...approval,
    orgUsername,
    packages: candidate?.value.artifacts,
    given: votes.filter(({ decision }) => decision === 'approve').length,
  };
}

async function orgNamedBy({ db, tenantId }: Reads, projectId: string, environmentName: string | null) {
  const environment = await db
    .selectFrom('environment')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('name', '=', environmentName)
    .select('orgUsername')
    .executeTakeFirst();
  return environment?.orgUsername ?? null;
}
