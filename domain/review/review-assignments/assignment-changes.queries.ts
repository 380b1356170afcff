import { sql, type SqlBool } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import { inserting, type NewRow } from '../../kernel/data/statement.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { AssignmentEnd, AssignmentState } from './assignment-rules.ts';

const INSERT = inserting(
  'review_assignment',
  [
    'id',
    'tenantId',
    'projectId',
    'assignmentType',
    'assignmentKey',
    'branch',
    'domains',
    'targetType',
    'targetName',
    'poolId',
    'environmentId',
    'ruleId',
    'expirationHours',
    'isImmortal',
    'requestedBy',
  ],
  (query) =>
    query
      .onConflict((conflict) =>
        conflict
          .columns(['tenantId', 'projectId', 'assignmentType', 'assignmentKey'])
          .where(sql<SqlBool>`state in ('pending', 'active')`)
          .doNothing(),
      )
      .returning('id'),
);

type NewAssignment = Omit<NewRow<'review_assignment'>, 'domains' | 'requestedBy' | 'tenantId'> & {
  domains: readonly string[];
};

/** Adds an assignment that waits; false when the key has an open one. */
export async function insertAssignment(
  { db, tenantId, actor }: Tx,
  { domains, ...assignment }: NewAssignment,
): Promise<boolean> {
  const row = { ...assignment, tenantId, domains: json([...domains]), requestedBy: json(actor) };
  const [inserted] = await INSERT(db, row);
  return inserted !== undefined;
}

export interface AllocatedOrg {
  instanceId: string | null;
  orgUsername: string | null;
  orgExpiresAt: Date | null;
  assignedAt: Date;
  expiresAt: Date | null;
}

const changeAssignment = (db: Tx['db'], tenantId: string, id: string) =>
  db
    .updateTable('review_assignment')
    .set({ updatedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id);

/** Throws `unavailable` when it no longer waits. */
export async function activate({ db, tenantId }: Tx, id: string, allocated: AllocatedOrg): Promise<void> {
  const { numUpdatedRows } = await changeAssignment(db, tenantId, id)
    .where('state', '=', sql.lit<AssignmentState>('pending'))
    .set({ ...allocated, state: 'active' })
    .executeTakeFirstOrThrow();
  assertChanged(numUpdatedRows);
}

function assertChanged(count: bigint): void {
  if (count === 0n)
    throw new DomainError('unavailable', 'The assignment was changed by a concurrent request; try again');
}

export async function writeLeaseEnd({ db, tenantId }: Tx, id: string, expiresAt: Date): Promise<void> {
  await changeAssignment(db, tenantId, id).set({ expiresAt, warnedAt: null }).execute();
}

/** Notes another end of the org, and of the lease with it. */
export async function writeOrgEnd(
  { db, tenantId }: Tx,
  id: string,
  ends: { orgExpiresAt: Date | null; expiresAt: Date | null },
): Promise<void> {
  await changeAssignment(db, tenantId, id)
    .set({ ...ends, warnedAt: null })
    .execute();
}

export async function writeWarned({ db, tenantId }: Tx, id: string, warnedAt: Date): Promise<void> {
  await changeAssignment(db, tenantId, id).set({ warnedAt }).execute();
}

/** Throws `unavailable` when it has ended already. */
export async function writeEnd(
  { db, tenantId }: Tx,
  id: string,
  end: { state: AssignmentEnd; endedAt: Date; reason: string | null },
): Promise<void> {
  const { numUpdatedRows } = await changeAssignment(db, tenantId, id)
    .where(sql<SqlBool>`state in ('pending', 'active')`)
    .set(end)
    .executeTakeFirstOrThrow();
  assertChanged(numUpdatedRows);
}

/** Notes that the workflow of an assignment knows its state. */
export async function noteSeen({ db, tenantId }: Tx, id: string): Promise<void> {
  await db
    .updateTable('review_assignment')
    .set({ seenAt: sql`clock_timestamp()` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Nobody else changes the assignment until this transaction ends. */
export async function lockAssignment({ db, tenantId }: Tx, id: string): Promise<void> {
  await db
    .selectFrom('review_assignment')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .select('id')
    .execute();
}
