import { z } from 'zod';
import { type Decision, mayApprove, statusNow } from '../../../domain/delivery/approvals/approval-rules.ts';
import { notFound } from '../../../domain/kernel/shared/errors.ts';
import { takeDecision } from '../../../domain/delivery/approvals/decisions.ts';
import { stepsOf, votesByApproval, voterOf } from '../../../domain/delivery/approvals/approval-steps.queries.ts';
import { approvalById, type ApprovalRow, listApprovals } from '../../../domain/delivery/approvals/approvals.queries.ts';
import { expireOfRun } from '../../../domain/delivery/approvals/approvals.mutations.ts';
import { changesToCome } from '../../../domain/delivery/releases/changes-to-come.ts';
import type { Voter } from '../../../domain/projects/policies/approval-policy-rules.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { sendDecision } from '../../../workflows/delivery/approvals/approval.contract.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, NoContent } from '../../http/parameters.ts';
import { pageReply } from '../../http/replies.ts';
import type { Scope } from '../../http/scope.ts';
import { Approval, ApprovalsQuery, ApprovalWithSteps, ApprovalWithVotes, DecisionIn } from './approvals.schemas.ts';

const GROUP = 'Approvals';

const decisionOf = (
  decision: Decision,
  { id, comment }: { id: string; comment: string | undefined },
  { tx, adapters, actor, requestId, traceparent, log }: Scope,
): Promise<ApprovalRow> => {
  const onAway = (error: unknown, approvalId: string) =>
    log.warn({ err: error, approvalId }, 'a decision was not answered');
  const made = { decision, comment: comment ?? null, by: actor, requestId, traceparent };
  return takeDecision(tx, sendDecision(adapters.launch, onAway), id, made);
};

const decisionRoute = (operationId: string, decision: Decision, summary: string, description: string) =>
  defineRoute({
    operationId,
    method: 'post',
    path: `/api/flows/approvals/{id}/${decision}`,
    group: GROUP,
    summary,
    description: `${description} Repeating your own decision gets 200; an approval that has been decided otherwise gets 409.`,
    roles: ['owner', 'member'],
    projectScope: 'row',
    params: byId,
    body: DecisionIn,
    status: 200,
    response: Approval,
    errors: ['invalid_transition'],
    audit: {
      none: 'the workflow, which applies decisions one by one, writes approval.voted, .approved or .rejected on behalf of the caller',
    },
    handle: ({ params: { id }, body: { comment } }, scope) => decisionOf(decision, { id, comment }, scope),
  });

/** The caller as somebody who decides; undefined: it is no person. */
const callerIn = async ({ reads, actor }: Pick<Scope, 'reads' | 'actor'>) =>
  actor.type === 'user' ? voterOf(reads, actor) : undefined;

/** Approvals with their votes, and whether the caller may give them. */
async function withVotes<Row extends ApprovalRow>(
  { reads, now }: Pick<Scope, 'reads' | 'now'>,
  rows: readonly Row[],
  voter: Voter | undefined,
) {
  const votes = await votesByApproval(
    reads,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => {
    const given = votes.get(row.id) ?? [];
    return { ...row, votes: given, canDecide: mayApprove({ ...row, status: statusNow(row, now()) }, given, voter) };
  });
}

/** What each of some approvals would change where its run goes; null: its run takes no release there. */
async function withChanges<Row extends ApprovalRow>(
  { tx, adapters: { git, releases } }: Pick<Scope, 'tx' | 'adapters'>,
  rows: readonly Row[],
) {
  const source = { commitGraphs: git.commitGraphs, deploymentLogs: releases.deploymentLogs };
  const shown = [];
  for (const row of rows) {
    const environmentIds = row.environmentId === null ? [] : [row.environmentId];
    // Each in a transaction of its own: others of the tenant wait for the connection.
    shown.push({ ...row, changes: await tx((work) => changesToCome(work, source, row, environmentIds)) });
  }
  return shown;
}

export const approvalsRoutes = [
  defineRoute({
    operationId: 'listApprovals',
    method: 'get',
    path: '/api/flows/approvals',
    group: GROUP,
    summary: 'List approvals, newest first unless sorted otherwise',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: ApprovalsQuery,
    status: 200,
    response: z.object({ items: z.array(ApprovalWithVotes), total: z.int(), limit: z.int(), offset: z.int() }),
    async handle(
      { query: { status = 'requested', mine, repositoryIdentifier, environment, limit, offset, sort, includeChanges } },
      scope,
    ) {
      const { reads, actor, requestUrl } = scope;
      if (repositoryIdentifier !== undefined) await projectInRequest(reads, repositoryIdentifier);
      const voter = await callerIn(scope);
      const decidableBy = mine ? (voter ?? (await voterOf(reads, actor))) : undefined;
      const { items: found, total } = await listApprovals(
        reads,
        { status, repositoryIdentifier, environment, decidableBy },
        { limit, offset, sort },
      );
      const voted = await withVotes(scope, found, voter);
      const items = includeChanges ? await withChanges(scope, voted) : voted;
      return pageReply(requestUrl, { limit, offset, total }, { items, total, limit, offset });
    },
  }),
  defineRoute({
    operationId: 'getApproval',
    method: 'get',
    path: '/api/flows/approvals/{id}',
    group: GROUP,
    summary: 'Get an approval with its history',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: ApprovalWithSteps,
    async handle({ params: { id } }, scope) {
      const { reads } = scope;
      const voted = await withVotes(scope, [await approvalById(reads, id)], await callerIn(scope));
      const [approval] = await withChanges(scope, voted);
      if (!approval) throw notFound('The approval');
      return { ...approval, steps: await stepsOf(reads, id) };
    },
  }),
  decisionRoute(
    'grantApproval',
    'approve',
    'Approve a run',
    'For the people and teams named in the approval policy, otherwise the owners. The requester may only approve if the policy allows it. With `minApprovals`, the run is approved once that many people have approved it.',
  ),
  decisionRoute('rejectApproval', 'reject', 'Reject a run', 'For approvers. One rejection is final.'),
  defineRoute({
    operationId: 'expireApproval',
    method: 'post',
    path: '/api/flows/internal/approvals/{id}/expire',
    group: 'Flows: internal',
    summary: 'Mark the approval of a run as expired',
    description: '`id` is the id of the run. An approval that has been decided is not changed.',
    roles: ['application'],
    projectScope: 'row',
    params: byId,
    status: 204,
    response: NoContent,
    audit: 'approval.expired',
    handle: ({ params: { id } }, { tx }) => tx((work) => expireOfRun(work, id)),
  }),
];
