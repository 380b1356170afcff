import type { ActorReads } from '../data/fenced-reads.ts';
import type { Actor } from '../shared/actor.ts';
import { notFound } from '../shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import type { ApprovalStatus, ApprovalTerms, Decision, Vote, Voter } from './approval-rules.ts';

/** An approval as it is stored; moments are the database's text. */
export interface ApprovalRow extends ApprovalTerms {
  id: string;
  executionId: string;
  taskType: string;
  projectId: string | null;
  repositoryIdentifier: string | null;
  environmentName: string | null;
  domain: string | null;
  releaseName: string | null;
  requestedBy: string;
  requestedAt: string;
  expiresAt: string;
  resolvedBy: string | null;
  resolvedAt: string | null;
  comment: string | null;
}

const COLUMNS = `a.id, a.run_id as "executionId", a.task_type as "taskType", a.project_id as "projectId",
  a.repository_identifier as "repositoryIdentifier", a.environment_name as "environmentName", a.domain, a.release_name as "releaseName",
  a.status, to_json(a.approvers) as approvers, a.min_approvals as "minApprovals", a.allow_self_approval as "allowSelfApproval",
  a.expires_at::timestamptz(3) as "expiresAt", a.requester_id as "requesterId", a.requested_by as "requestedBy",
  a.created_at as "requestedAt", a.resolved_by as "resolvedBy", a.resolved_at as "resolvedAt", a.comment`;

/** Whoever reads rows: a unit of work, or reads without a transaction. */
type Reader = Pick<Tx, 'sql' | 'tenantId'>;

/** An approval by id; `isLocked`: nobody else changes it before this transaction ends. Throws `not_found`. */
export async function approvalById(
  { sql, tenantId }: Reader,
  id: string,
  { isLocked = false } = {},
): Promise<ApprovalRow> {
  const [row] = await sql<ApprovalRow>(
    `select ${COLUMNS} from approval a where a.tenant_id = ? and a.id = ?${isLocked ? ' for update' : ''}`,
    [tenantId, id],
  );
  if (!row) throw notFound('The approval');
  return row;
}

/** The approval of a run, locked. */
export async function findApprovalOfRun({ sql, tenantId }: Tx, runId: string): Promise<ApprovalRow | undefined> {
  const [row] = await sql<ApprovalRow>(
    `select ${COLUMNS} from approval a where a.tenant_id = ? and a.run_id = ? for update`,
    [tenantId, runId],
  );
  return row;
}

/** Open approvals of what a release candidate is deployed by, locked, in order. */
export const openApprovalsOf = (
  { sql, tenantId }: Tx,
  { projectId, domain, releaseName }: { projectId: string; domain: string; releaseName: string },
): Promise<ApprovalRow[]> =>
  sql(
    `select ${COLUMNS} from approval a
     where a.tenant_id = ? and a.project_id = ? and a.domain = ? and a.release_name = ? and a.status = 'requested'
     order by a.id for update`,
    [tenantId, projectId, domain, releaseName],
  );

export const votesOf = ({ sql, tenantId }: Reader, approvalId: string): Promise<Vote[]> =>
  sql(
    `select voter_id as "voterId", vote as decision from approval_event where tenant_id = ? and approval_id = ? and voter_id is not null`,
    [tenantId, approvalId],
  );

/** Somebody of the tenant as one who wants to decide. */
export async function voterOf(
  { sql, tenantId }: Reader,
  { id, email, role }: Pick<Actor, 'id' | 'email' | 'role'>,
): Promise<Voter> {
  const rows = await sql<{ slug: string }>(
    `select t.slug from membership m join team t on t.tenant_id = m.tenant_id and t.id = m.team_id where m.tenant_id = ? and m.user_id::text = ?`,
    [tenantId, id],
  );
  return { id, email, isOwner: role === 'owner', teams: rows.map(({ slug }) => slug) };
}

/** One step of an approval. */
export interface ApprovalStep {
  status: ApprovalStatus;
  source: string;
  vote: Decision | null;
  by: string;
  comment: string | null;
  occurredAt: string;
}

export const stepsOf = ({ sql, tenantId }: Reader, approvalId: string): Promise<ApprovalStep[]> =>
  sql(
    `select status, source, vote, coalesce(resolved_by, requested_by) as by, comment, occurred_at as "occurredAt" from approval_event
     where tenant_id = ? and approval_id = ? order by occurred_at, id`,
    [tenantId, approvalId],
  );

export interface ApprovalFilter {
  status: ApprovalStatus;
  repositoryIdentifier?: string | undefined;
  environment?: string | undefined;
  /** Only those on which this person may decide, and has not yet. */
  decidableBy?: Voter | undefined;
}

/** One page of approvals, newest first, with how many there are. */
export async function listApprovals(
  { sql, tenantId }: ActorReads,
  { status, repositoryIdentifier, environment, decidableBy }: ApprovalFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: ApprovalRow[]; total: number }> {
  const parts = ['a.tenant_id = ?', 'a.status = ?'];
  const parameters: unknown[] = [tenantId, status];
  const and = (part: string, ...values: unknown[]) => {
    parts.push(part);
    parameters.push(...values);
  };
  if (repositoryIdentifier !== undefined) and('a.repository_identifier = ?', repositoryIdentifier);
  if (environment !== undefined) and('a.environment_name = ?', environment);
  if (decidableBy) {
    const { id, email, isOwner, teams } = decidableBy;
    and(
      `case when cardinality(a.approvers) = 0 then ?::boolean
         else exists (select from unnest(a.approvers) approver where lower(approver) = lower(?) or approver = any (?::text[])) end`,
      isOwner,
      email,
      teams,
    );
    and('(a.allow_self_approval or a.requester_id <> ?)', id);
    and(
      'not exists (select from approval_event v where v.tenant_id = a.tenant_id and v.approval_id = a.id and v.voter_id = ?)',
      id,
    );
    and(
      'not exists (select from flow_run r where r.tenant_id = a.tenant_id and r.id = a.run_id and r.ended_at is not null)',
    );
  }
  const rows = await sql<ApprovalRow & { total: number }>(
    `with found as (select a.id, a.created_at from approval a where ${parts.join(' and ')}),
       counted as (select count(*)::int as total from found),
       page as (select id from found order by created_at desc, id desc limit ? offset ?)
     select ${COLUMNS}, counted.total
     from counted left join page on true left join approval a on a.tenant_id = ? and a.id = page.id
     order by a.created_at desc, a.id desc`,
    [...parameters, limit, offset, tenantId],
  );
  return { items: rows.filter(({ id }) => id !== null), total: rows[0]?.total ?? 0 };
}
