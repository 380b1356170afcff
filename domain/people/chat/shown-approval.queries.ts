import { sql } from 'kysely';
import { approvalById } from '../../delivery/approvals/approvals.queries.ts';
import { votesOf } from '../../delivery/approvals/approval-steps.queries.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { findCandidate } from '../../delivery/release-candidates/release-candidates.queries.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import type { ShownApproval } from './approval-message-rules.ts';

/** What messages show of an approval now; undefined where there is none of that id. */
export async function shownApproval(reads: Reads, id: string): Promise<ShownApproval | undefined> {
  const approval = await approvalById(reads, id).catch((error: unknown) => {
    if (error instanceof DomainError && error.code === 'not_found') return undefined;
    throw error;
  });
  if (!approval) return undefined;
  const { projectId, environmentName, domain, releaseName, executionId } = approval;
  const hasCandidate = projectId !== null && domain !== null && releaseName !== null;
  const [votes, candidate, orgUsername, workItem] = await Promise.all([
    votesOf(reads, id),
    hasCandidate ? findCandidate(reads, projectId, { domain, releaseName }) : undefined,
    projectId === null ? null : orgNamedBy(reads, projectId, environmentName),
    workItemOfRun(reads, executionId),
  ]);
  return {
    ...approval,
    orgUsername,
    packages: candidate?.value.artifacts,
    given: votes.filter(({ decision }) => decision === 'approve').length,
    workItem,
  };
}

/** The work item that a run names, with what is known of it by the newest request that the run executes. */
async function workItemOfRun({ db, tenantId }: Reads, runId: string): Promise<ShownApproval['workItem']> {
  const found = await db
    .selectFrom('flow_run as r')
    .leftJoin('work_item_request_execution as e', (join) =>
      join
        .onRef('e.tenantId', '=', 'r.tenantId')
        .onRef('e.projectId', '=', 'r.projectId')
        .on('e.executionId', '=', runId),
    )
    .leftJoin('work_item_request as q', (join) =>
      join.onRef('q.tenantId', '=', 'e.tenantId').onRef('q.id', '=', 'e.requestId'),
    )
    .where('r.tenantId', '=', tenantId)
    .where('r.id', '=', runId)
    .where('r.workItem', 'is not', null)
    .orderBy('q.createdAt', 'desc')
    .limit(sql.lit(1))
    .select(['r.workItem', 'q.title', 'q.workItemUrl'])
    .executeTakeFirst();
  if (!found?.workItem) return null;
  const { workItem, title, workItemUrl } = found;
  return { key: workItem.key, title, url: workItemUrl ?? workItem.url ?? null };
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
