import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { ApprovalStatus, Decision, Vote } from './approval-rules.ts';
import type { Voter } from '../../projects/policies/approval-policy-rules.ts';
import type { StepSource } from './approvals.entities.ts';

export interface NewStep {
  source: StepSource;
  /** Who took it; null for a request. */
  by: string | null;
  comment: string | null;
  vote?: { voterId: string; decision: Decision } | undefined;
}

/** Adds a step to the approval's history, which nobody can change, with what the approval is now. */
export async function insertStep(
  { db, tenantId }: Tx,
  approvalId: string,
  { source, by, comment, vote }: NewStep,
): Promise<void> {
  await sql`
    insert into approval_event (id, tenant_id, project_id, repository_identifier, approval_id, run_id, task_type, environment_name, domain,
      release_name, status, source, voter_id, vote, approvers, requested_by, requested_at, resolved_by, resolved_at, comment, override, occurred_at)
    select ${newId()}, a.tenant_id, a.project_id, a.repository_identifier, a.id, a.run_id, a.task_type, a.environment_name, a.domain,
      a.release_name, a.status, ${source}, ${vote?.voterId ?? null}, ${vote?.decision ?? null}, a.approvers, a.requested_by, a.created_at,
      ${by}, case when ${by}::text is not null then moment end, ${comment},
      (select r.override from flow_run r where r.tenant_id = a.tenant_id and r.id = a.run_id), moment
    from approval a, clock_timestamp() as moment where a.tenant_id = ${tenantId} and a.id = ${approvalId}`.execute(db);
}

/**
 * Adds the override of a run to the history of approvals, once, unless an approval was requested for the run, whose steps
 * have it, or its children have it.
 */
export async function insertOverrideStep({ db, tenantId }: Tx, runId: string): Promise<void> {
  await sql`
    insert into approval_event (id, tenant_id, project_id, repository_identifier, run_id, task_type, environment_name, domain, release_name,
      status, source, approvers, requested_by, requested_at, override, occurred_at)
    select ${newId()}, r.tenant_id, r.project_id, p.identifier, r.id, r.task_type, coalesce(e.name, r.payload->>'environmentName'), r.domain,
      r.release_name, 'overridden', 'run', '{}', coalesce(r.requested_by->>'email', r.triggered_by), r.created_at, r.override, clock_timestamp()
    from flow_run r
    left join project p on p.tenant_id = r.tenant_id and p.id = r.project_id
    left join environment e on e.tenant_id = r.tenant_id and e.id = r.environment_id
    where r.tenant_id = ${tenantId} and r.id = ${runId} and r.override is not null
      and not exists (select from approval a where a.tenant_id = r.tenant_id and a.run_id = r.id)
      and not exists (select from flow_run c where c.tenant_id = r.tenant_id and c.parent_id = r.id)
    on conflict (tenant_id, run_id) where approval_id is null do nothing`.execute(db);
}

export const votesOf = async ({ db, tenantId }: Reads, approvalId: string): Promise<Vote[]> =>
  db
    .selectFrom('approval_event')
    .where('tenantId', '=', tenantId)
    .where('approvalId', '=', approvalId)
    .where('voterId', 'is not', null)
    .select(['voterId', 'vote as decision'])
    .$narrowType<Vote>()
    .execute();

/** A vote as lists show it. */
export type ShownVote = Vote & { by: string; comment: string | null; at: string };

/** The votes on some approvals, oldest first, by the approval. */
export async function votesByApproval(
  { db, tenantId }: Reads,
  approvalIds: readonly string[],
): Promise<Map<string, ShownVote[]>> {
  const votes = await db
    .selectFrom('approval_event')
    .where('tenantId', '=', tenantId)
    .where('approvalId', '=', sql<string>`any (${approvalIds}::uuid[])`)
    .where('voterId', 'is not', null)
    .orderBy('occurredAt')
    .orderBy('id')
    .select(['approvalId', 'voterId', 'vote as decision', 'resolvedBy as by', 'comment', 'occurredAt as at'])
    .$narrowType<ShownVote & { approvalId: string }>()
    .execute();
  return Map.groupBy(votes, ({ approvalId }) => approvalId);
}

async function hasOtherOwner({ db, tenantId }: Reads, userId: string): Promise<boolean> {
  const other = await db
    .selectFrom('membership')
    .where('tenantId', '=', tenantId)
    .where('role', '=', 'owner')
    .where(sql`user_id::text`, '<>', userId)
    .select('id')
    .executeTakeFirst();
  return other !== undefined;
}

/** A member of the tenant as somebody who wants to decide. */
export async function voterOf(
  { db, tenantId }: Reads,
  { id, email, role }: Pick<Actor, 'id' | 'email' | 'role'>,
): Promise<Voter> {
  const teams = await db
    .selectFrom('membership as m')
    .innerJoin('team as t', (join) => join.onRef('t.tenantId', '=', 'm.tenantId').onRef('t.id', '=', 'm.teamId'))
    .where('m.tenantId', '=', tenantId)
    .where(sql`m.user_id::text`, '=', id)
    .select('t.slug')
    .execute();
  const isOwner = role === 'owner';
  const isSoleOwner = isOwner && !(await hasOtherOwner({ db, tenantId }, id));
  return { id, email, isOwner, isSoleOwner, teams: teams.map(({ slug }) => slug) };
}

/** The history of an approval, oldest first. */
export const stepsOf = ({ db, tenantId }: Reads, approvalId: string) =>
  db
    .selectFrom('approval_event')
    .where('tenantId', '=', tenantId)
    .where('approvalId', '=', approvalId)
    .orderBy('occurredAt')
    .orderBy('id')
    .select(({ fn }) => [
      'status',
      'source',
      'vote',
      fn.coalesce('resolvedBy', 'requestedBy').as('by'),
      'comment',
      'occurredAt',
    ])
    .$narrowType<{ status: ApprovalStatus }>()
    .execute();
