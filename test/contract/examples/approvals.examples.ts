import { newId } from '../../../domain/shared/ids.ts';
import type { TestApp } from '../../support/app.ts';
import { insertRun } from '../../support/runs.ts';
import { type BaseFixtures, featureExamples } from './example.ts';

/** No worker runs in these tests, so that approvals are made as rows; the settled ones were decided by the owner. */
async function makeApproval(app: TestApp, base: BaseFixtures, status: string, vote?: string) {
  const runId = await insertRun(app, { ...base, requestedBy: app.member.email });
  const approvalId = newId();
  await app.sql(
    `insert into approval (id, tenant_id, project_id, repository_identifier, run_id, task_type, status, approvers, min_approvals, allow_self_approval,
       expires_at, requester_id, requested_by, resolved_by, resolved_at)
     select ?, r.tenant_id, r.project_id, ?, r.id, r.task_type, ?, '{}', 1, false, now() + interval '7 days', r.requested_by->>'id', r.triggered_by,
       ?, case when ?::text is null then null else now() end
     from flow_run r where r.id = ?`,
    [approvalId, base.repositoryIdentifier, status, vote ? app.owner.email : null, vote ?? null, runId],
  );
  await app.sql(
    `insert into approval_event (id, tenant_id, project_id, repository_identifier, approval_id, run_id, task_type, status, source, voter_id, vote,
       approvers, requested_by, requested_at, resolved_by, resolved_at, occurred_at)
     select gen_random_uuid(), a.tenant_id, a.project_id, a.repository_identifier, a.id, a.run_id, a.task_type, a.status, 'vote',
       case when ?::text is null then null else u.id::text end, ?, a.approvers, a.requested_by, a.created_at, a.resolved_by, a.resolved_at, now()
     from approval a, user_account u where a.id = ? and u.email = ?`,
    [vote ?? null, vote ?? null, approvalId, app.owner.email],
  );
  return { approvalId, runId };
}

export const approvalsExamples = featureExamples(
  async (app, base) => {
    const open = await makeApproval(app, base, 'requested');
    const { approvalId: approvedId } = await makeApproval(app, base, 'approved', 'approve');
    const { approvalId: rejectedId } = await makeApproval(app, base, 'rejected', 'reject');
    return { ...open, approvedId, rejectedId };
  },
  {
    listApprovals: () => ({}),
    getApproval: ({ approvalId: id }) => ({ params: { id } }),
    grantApproval: ({ approvedId: id }) => ({ params: { id }, body: { comment: 'checked' } }),
    rejectApproval: ({ rejectedId: id }) => ({ params: { id }, body: {} }),
    expireApproval: ({ runId: id }) => ({ params: { id } }),
    getComplianceReport: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
  },
);
