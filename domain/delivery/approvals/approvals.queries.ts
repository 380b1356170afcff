import { type Expression, sql, type SqlBool } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { NewRow } from '../../kernel/data/statement.ts';
import type { ReadDatabase } from '../../kernel/data/tables.ts';
import type { Override } from '../../projects/policies/promotion-policy-rules.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import { type ApprovalStatus, NEW_APPROVAL, type SettledStatus } from './approval-rules.ts';
import type { Voter } from '../../projects/policies/approval-policy-rules.ts';

const COLUMNS = [
  'a.id',
  'a.runId as executionId',
  'a.taskType',
  'a.projectId',
  'a.repositoryIdentifier',
  'a.environmentId',
  'a.environmentName',
  'a.domain',
  'a.releaseName',
  'a.status',
  'a.approvers',
  'a.minApprovals',
  'a.allowSelfApproval',
  sql<string>`a.expires_at::timestamptz(3)`.as('expiresAt'),
  'a.requesterId',
  'a.requesterIds',
  'a.allowSoleOwner',
  'a.requestedBy',
  'a.createdAt as requestedAt',
  'a.resolvedBy',
  'a.resolvedAt',
  'a.comment',
  'a.contentDigest',
  sql<Override | null>`(select r.override from flow_run r where r.tenant_id = a.tenant_id and r.id = a.run_id)`.as(
    'override',
  ),
  sql<
    string | null
  >`(select c.id from release_candidate c where c.tenant_id = a.tenant_id and c.project_id = a.project_id
    and c.domain = a.domain and c.release_name = a.release_name)`.as('candidateId'),
  sql<boolean>`exists (select from flow_run r where r.tenant_id = a.tenant_id and r.id = a.run_id and r.ended_at is not null)`.as(
    'hasRunEnded',
  ),
] as const;

const approvals = (db: ReadDatabase, tenantId: string) =>
  db.selectFrom('approval as a').where('a.tenantId', '=', tenantId).select(COLUMNS);
export type ApprovalRow = Awaited<ReturnType<ReturnType<typeof approvals>['execute']>>[number];

/** With `forUpdate`, nobody else changes it before this transaction ends. Throws `not_found`. */
export async function approvalById(
  { db, tenantId }: Reads,
  id: string,
  { forUpdate = false } = {},
): Promise<ApprovalRow> {
  const query = approvals(db, tenantId).where('a.id', '=', id);
  const row = await (forUpdate ? query.forUpdate() : query).executeTakeFirst();
  if (!row) throw notFound('The approval');
  return row;
}

/** The approval of a run, locked. */
export const findApprovalOfRun = ({ db, tenantId }: Tx, runId: string): Promise<ApprovalRow | undefined> =>
  approvals(db, tenantId).where('a.runId', '=', runId).forUpdate().executeTakeFirst();

/** Open approvals of what a release candidate is deployed by, locked, in order. */
export const openApprovalsOf = (
  { db, tenantId }: Tx,
  { projectId, domain, releaseName }: { projectId: string; domain: string; releaseName: string },
): Promise<ApprovalRow[]> =>
  approvals(db, tenantId)
    .where('a.projectId', '=', projectId)
    .where('a.domain', '=', domain)
    .where('a.releaseName', '=', releaseName)
    .where('a.status', '=', sql.lit('requested'))
    .orderBy('a.id')
    .forUpdate()
    .execute();

/** Approvals of a release candidate are for content of another digest, which is the same. */
export async function renameApprovedContent(
  { db, tenantId }: Tx,
  { projectId, domain, releaseName }: { projectId: string; domain: string; releaseName: string },
  { from, to }: { from: string; to: string },
): Promise<void> {
  await db
    .updateTable('approval')
    .set({ contentDigest: to })
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('domain', '=', domain)
    .where('releaseName', '=', releaseName)
    .where('contentDigest', '=', from)
    .execute();
}

export const findApprovalIdOfRun = ({ db, tenantId }: Reads, runId: string) =>
  db.selectFrom('approval').where('tenantId', '=', tenantId).where('runId', '=', runId).select('id').executeTakeFirst();

export type NewApproval = Omit<NewRow<'approval'>, 'id' | 'tenantId' | 'status'>;

/** Answers its id. */
export async function insertApproval({ db, tenantId }: Tx, approval: NewApproval): Promise<string> {
  const id = newId();
  await db
    .insertInto('approval')
    .values({ ...approval, id, tenantId, status: NEW_APPROVAL })
    .execute();
  return id;
}

/** Records how an approval was settled. */
export async function writeSettlement(
  { db, tenantId }: Tx,
  id: string,
  settlement: { status: SettledStatus; resolvedBy: string; comment: string | null },
): Promise<void> {
  await db
    .updateTable('approval')
    .set({ ...settlement, resolvedAt: sql`clock_timestamp()`, updatedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Records that the workflow of an approval runs; answers what it has missed. Undefined when the approval was removed. */
export const confirmApproval = ({ db, tenantId }: Tx, id: string) =>
  db
    .updateTable('approval as a')
    .from('flow_run as r')
    .set(({ fn }) => ({ confirmedAt: fn.coalesce('a.confirmedAt', sql<string>`now()`), updatedAt: sql`now()` }))
    .where('a.tenantId', '=', tenantId)
    .where('a.id', '=', id)
    .whereRef('r.tenantId', '=', 'a.tenantId')
    .whereRef('r.id', '=', 'a.runId')
    .returning([
      sql<boolean>`r.ended_at is not null`.as('hasRunEnded'),
      sql<boolean>`a.expires_at <= clock_timestamp()`.as('isDue'),
    ])
    .executeTakeFirst();

/** The state of an approval, for its workflow. */
export const approvalState = ({ db, tenantId }: Reads, id: string) =>
  db
    .selectFrom('approval')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .select([
      'status',
      'runId',
      'taskType',
      sql<string | null>`(select r.workflow_path from flow_run r
        where r.tenant_id = approval.tenant_id and r.id = approval.run_id)`.as('workflowPath'),
      sql<number>`ceil(extract(epoch from expires_at - clock_timestamp()) * 1000)::float8`.as('expiresInMs'),
    ])
    .executeTakeFirst();
export type ApprovalState = NonNullable<Awaited<ReturnType<typeof approvalState>>>;

/** Records that the run's workflow was notified how its approval was settled. */
export async function markRunNotified({ db, tenantId }: Tx, id: string): Promise<void> {
  await db
    .updateTable('approval')
    .set({ runNotifiedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where('runNotifiedAt', 'is', null)
    .execute();
}

/** Orders of lists; `-` before the name: the latest first. */
export const APPROVAL_SORTS = ['requestedAt', '-requestedAt', 'expiresAt', '-expiresAt'] as const;
export type ApprovalSort = (typeof APPROVAL_SORTS)[number];

export interface ApprovalFilter {
  status: ApprovalStatus;
  repositoryIdentifier?: string | undefined;
  environment?: string | undefined;
  /** Only those on which this person may decide, and has not yet. */
  decidableBy?: Voter | undefined;
}

const isDecidableBy = ({ id, email, isOwner, isSoleOwner, teams }: Voter): Expression<SqlBool> =>
  sql`case when cardinality(a.approvers) = 0 then ${isOwner}::boolean
      else exists (select from unnest(a.approvers) approver where lower(approver) = lower(${email}) or approver = any (${teams}::text[])) end
    and (a.allow_self_approval or (a.requester_id <> ${id} and ${id} <> all (a.requester_ids))
      or (a.allow_sole_owner and ${isSoleOwner}::boolean and a.requester_id = ${id}))
    and not exists (select from approval_event v where v.tenant_id = a.tenant_id and v.approval_id = a.id and v.voter_id = ${id})
    and not exists (select from flow_run r where r.tenant_id = a.tenant_id and r.id = a.run_id and r.ended_at is not null)`;

/** One page of approvals with how many there are; default: newest first. */
export async function listApprovals(
  { db, tenantId }: Reads,
  { status, repositoryIdentifier, environment, decidableBy }: ApprovalFilter,
  { limit, offset, sort = '-requestedAt' }: { limit: number; offset: number; sort?: ApprovalSort | undefined },
) {
  const direction = sort.startsWith('-') ? ('desc' as const) : ('asc' as const);
  const column = sort.endsWith('expiresAt') ? ('expiresAt' as const) : ('createdAt' as const);
  const rows = await db
    .with('found', (inner) => {
      let found = inner
        .selectFrom('approval as a')
        .where('a.tenantId', '=', tenantId)
        .where('a.status', '=', status)
        .select(['a.id', 'a.createdAt', 'a.expiresAt']);
      if (repositoryIdentifier !== undefined) found = found.where('a.repositoryIdentifier', '=', repositoryIdentifier);
      if (environment !== undefined) found = found.where('a.environmentName', '=', environment);
      return decidableBy ? found.where(isDecidableBy(decidableBy)) : found;
    })
    .with('counted', (inner) => inner.selectFrom('found').select(sql<number>`count(*)::int`.as('total')))
    .with('page', (inner) =>
      inner
        .selectFrom('found')
        .select('id')
        .orderBy(column, direction)
        .orderBy('id', direction)
        .limit(limit)
        .offset(offset),
    )
    .selectFrom('counted')
    .leftJoin('page', (join) => join.onTrue())
    .leftJoin('approval as a', (join) => join.on('a.tenantId', '=', tenantId).onRef('a.id', '=', 'page.id'))
    .orderBy(`a.${column}`, direction)
    .orderBy('a.id', direction)
    .select([...COLUMNS, 'counted.total'])
    .execute();
  const items = rows.filter((row): row is ApprovalRow & { total: number } => row.id !== null);
  return { items, total: rows[0]?.total ?? 0 };
}
