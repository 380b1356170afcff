import type { Decision } from '../../../domain/delivery/approvals/approval-rules.ts';
import type { TestApp } from '../../support/app.ts';
import { insertApproval, insertRun } from '../../support/factories.ts';
import { type BaseFixtures, featureExamples } from './example.ts';

const RESPONSE_MS = 90_000;

/** No worker runs in these tests, so that approvals are made as rows; the settled ones were decided by the owner. */
async function makeApproval(app: TestApp, { repositoryIdentifier, environmentId }: BaseFixtures, vote?: Decision) {
  const runId = await insertRun(app, { repositoryIdentifier, environmentId, requestedBy: app.member.email });
  const { id: voterId } = await app.as(app.owner).get(200, '/api/users/me');
  const resolvedAt = new Date();
  const requestedAt = new Date(resolvedAt.getTime() - RESPONSE_MS);
  const approvalId = await insertApproval(
    app,
    {
      repositoryIdentifier,
      runId,
      ...(vote && {
        status: vote === 'approve' ? 'approved' : 'rejected',
        resolvedBy: app.owner.email,
        createdAt: requestedAt,
        resolvedAt,
      }),
    },
    { source: 'vote', ...(vote && { vote, voterId, requestedAt }) },
  );
  return { approvalId, runId };
}

export const approvalsExamples = featureExamples(
  async (app, base) => {
    const open = await makeApproval(app, base);
    const { approvalId: approvedId } = await makeApproval(app, base, 'approve');
    const { approvalId: rejectedId } = await makeApproval(app, base, 'reject');
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
