import { sql, type SqlBool } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { statement } from '../../kernel/data/statement.ts';
import type { ReadDatabase } from '../../kernel/data/tables.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import type { ReviewAssignmentKey } from '../review.signals.ts';
import { type AssignmentState, type AssignmentType, keyOf, subjectOf } from './assignment-rules.ts';

const COLUMNS = [
  'a.id',
  'a.projectId',
  'p.identifier as repositoryIdentifier',
  'a.assignmentType',
  'a.assignmentKey',
  'a.branch',
  'a.domains',
  'a.targetType',
  'a.targetName',
  'a.poolId',
  'a.environmentId',
  'a.ruleId',
  'a.expirationHours',
  'a.isImmortal',
  'a.state',
  'a.instanceId',
  'a.orgUsername',
  'a.orgExpiresAt',
  'a.assignedAt',
  'a.expiresAt',
  'a.warnedAt',
  'a.endedAt',
  'a.reason',
  'a.requestedBy',
  'a.createdAt',
] as const;

/** Position of a pending assignment in the queue, from 1 for the next; null for others. */
const POSITION = sql<number | null>`case when a.state = 'pending' then (
  select count(*)::int from review_assignment b
  where b.tenant_id = a.tenant_id and b.pool_id = a.pool_id and b.state = 'pending' and b.number <= a.number) end`;

const assignments = (db: ReadDatabase) =>
  db
    .selectFrom('review_assignment as a')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'a.tenantId').onRef('p.id', '=', 'a.projectId'));

const BY_ID = statement<{ tenantId: string; id: string }>()((db, { tenantId, id }) =>
  assignments(db)
    .where('a.tenantId', '=', tenantId)
    .where('a.id', '=', id)
    .select([...COLUMNS, POSITION.as('position')]),
);
export type AssignmentRow = Awaited<ReturnType<typeof BY_ID>>[number];

export async function findAssignment({ db, tenantId }: Reads, id: string): Promise<AssignmentRow | undefined> {
  const [assignment] = await BY_ID(db, { tenantId, id });
  return assignment;
}

/** Throws `not_found`. */
export async function assignmentById(reads: Reads, id: string): Promise<AssignmentRow> {
  const assignment = await findAssignment(reads, id);
  if (!assignment) throw notFound('The assignment');
  return assignment;
}

/** What an assignment's workflow is named by. */
export const assignmentKeyOf = (assignment: AssignmentRow): ReviewAssignmentKey => ({
  assignmentId: assignment.id,
  repositoryIdentifier: assignment.repositoryIdentifier,
  subject: subjectOf(assignment),
  target: assignment.targetName,
});

const IS_OPEN = sql<SqlBool>`a.state in ('pending', 'active')`;

interface Key {
  projectId: string;
  assignmentType: AssignmentType;
  assignmentKey: string;
}

const OPEN_OF_KEY = statement<Key & { tenantId: string }>()((db, given) =>
  assignments(db)
    .where('a.tenantId', '=', given.tenantId)
    .where('a.projectId', '=', given.projectId)
    .where('a.assignmentType', '=', given.assignmentType)
    .where('a.assignmentKey', '=', given.assignmentKey)
    .where(IS_OPEN)
    .select([...COLUMNS, POSITION.as('position')]),
);

/** What somebody has for reviews: what they requested, and what is assigned to them; the newest first. */
export const activeAssignmentsOf = ({ db, tenantId }: Reads, email: string, limit: number): Promise<AssignmentRow[]> =>
  assignments(db)
    .where('a.tenantId', '=', tenantId)
    .where('a.state', '=', sql.lit<AssignmentState>('active'))
    .where(
      sql<SqlBool>`(lower(a.requested_by->>'email') = lower(${email})
        or a.assignment_type = 'user' and lower(a.assignment_key) = lower(${email}))`,
    )
    .orderBy('a.number', 'desc')
    .limit(sql.lit(limit))
    .select([...COLUMNS, POSITION.as('position')])
    .execute();

/** The assignment of that key that waits or is active: there is one at most. */
export async function openAssignment(
  { db, tenantId }: Reads,
  { projectId, assignmentType, assignmentKey }: Key,
): Promise<AssignmentRow | undefined> {
  const [assignment] = await OPEN_OF_KEY(db, { tenantId, projectId, assignmentType, assignmentKey });
  return assignment;
}

/** What the workflows of a project's open assignments are named by. */
export async function openAssignmentKeys({ db, tenantId }: Reads, projectId: string): Promise<ReviewAssignmentKey[]> {
  const open = await assignments(db)
    .where('a.tenantId', '=', tenantId)
    .where('a.projectId', '=', projectId)
    .where(IS_OPEN)
    .select([...COLUMNS, POSITION.as('position')])
    .execute();
  return open.map(assignmentKeyOf);
}

/** The first that waits for an org of the pool. */
export const firstInLine = ({ db, tenantId }: Reads, poolId: string) =>
  db
    .selectFrom('review_assignment')
    .where('tenantId', '=', tenantId)
    .where('poolId', '=', poolId)
    .where('state', '=', sql.lit<AssignmentState>('pending'))
    .orderBy('number')
    .limit(sql.lit(1))
    .select(['id', 'expirationHours', 'isImmortal'])
    .executeTakeFirst();

/** The active assignment that has an org of a pool. */
export async function assignmentOfInstance({ db, tenantId }: Reads, instanceId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('review_assignment')
    .where('tenantId', '=', tenantId)
    .where('instanceId', '=', instanceId)
    .where('state', '=', sql.lit<AssignmentState>('active'))
    .select('id')
    .executeTakeFirst();
  return row?.id;
}

export async function countWaiting({ db, tenantId }: Reads, poolId: string): Promise<number> {
  const { count } = await db
    .selectFrom('review_assignment')
    .where('tenantId', '=', tenantId)
    .where('poolId', '=', poolId)
    .where('state', '=', sql.lit<AssignmentState>('pending'))
    .select(sql<number>`count(*)::int`.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

export interface AssignmentFilter {
  projectId?: string | undefined;
  assignmentType?: AssignmentType | undefined;
  assignmentKey?: string | undefined;
  state?: AssignmentState | undefined;
  poolTag?: string | undefined;
  environmentName?: string | undefined;
}

/** A page of assignments, the newest first. */
export async function listAssignments(
  { db, tenantId }: Reads,
  { projectId, assignmentType, assignmentKey, state, poolTag, environmentName }: AssignmentFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: AssignmentRow[]; total: number }> {
  let matching = assignments(db).where('a.tenantId', '=', tenantId);
  if (projectId !== undefined) matching = matching.where('a.projectId', '=', projectId);
  if (assignmentType !== undefined) matching = matching.where('a.assignmentType', '=', assignmentType);
  if (assignmentKey !== undefined)
    matching = matching.where(
      // As it is kept of a person, and of anything else.
      sql<SqlBool>`a.assignment_key = case when a.assignment_type = 'user'
        then ${keyOf('user', assignmentKey)} else ${assignmentKey} end`,
    );
  if (state !== undefined) matching = matching.where('a.state', '=', state);
  if (poolTag !== undefined) matching = matching.where('a.targetType', '=', 'pool').where('a.targetName', '=', poolTag);
  if (environmentName !== undefined)
    matching = matching.where('a.targetType', '=', 'environment').where('a.targetName', '=', environmentName);
  const [items, { total }] = await Promise.all([
    matching
      .orderBy('a.number', 'desc')
      .limit(sql.lit(limit))
      .offset(sql.lit(offset))
      .select([...COLUMNS, POSITION.as('position')])
      .execute(),
    matching.select(sql<number>`count(*)::int`.as('total')).executeTakeFirstOrThrow(),
  ]);
  return { items, total };
}

/**
 * The active assignment of an org to the work on a repository: of an environment with several the newest, that of the
 * person first.
 */
export async function assignmentOfOrg(
  { db, tenantId }: Reads,
  { targetOrg, repository, email }: { targetOrg: string; repository: string; email: string },
): Promise<string | undefined> {
  const row = await assignments(db)
    .where('a.tenantId', '=', tenantId)
    .where('p.identifier', '=', repository)
    .where(sql<SqlBool>`lower(a.org_username) = lower(${targetOrg})`)
    .where('a.state', '=', sql.lit<AssignmentState>('active'))
    .where(sql<SqlBool>`(a.expires_at is null or a.expires_at > now())`)
    .orderBy(sql`(a.requested_by->>'email' = ${email}) desc`)
    .orderBy('a.number', 'desc')
    .limit(sql.lit(1))
    .select('a.id')
    .executeTakeFirst();
  return row?.id;
}
