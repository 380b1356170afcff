import { sql } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import { isOneOf, secondsAgo } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Database } from '../../kernel/data/tables.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { TenantKey } from '../../kernel/shared/actor.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import { type GrantState, GRANT_MOVES, GRANT_STATES, OPEN_GRANTS } from './privilege-rules.ts';

/** What a run is about to give a person. */
export interface NewGrant {
  orgId: string;
  orgUsername: string;
  username: string;
  userId: string;
  permissionSet: string;
  setId: string;
  isGroup: boolean;
  expiresAt: Date;
}

/** All grants of a run, in the order in which they were intended. */
export const grantsOfRun = ({ db, tenantId }: Reads, runId: string) =>
  db
    .selectFrom('privilege_grant')
    .where('tenantId', '=', tenantId)
    .where('runId', '=', runId)
    .orderBy('id')
    .select([
      'id',
      'orgId',
      'orgUsername',
      'username',
      'userId',
      'permissionSet',
      'setId',
      'isGroup',
      'state',
      'assignmentId',
      'expiresAt',
      'takenBackAt',
      'error',
    ])
    .execute();

export type GrantRow = Awaited<ReturnType<typeof grantsOfRun>>[number];

/** Writes what a run is about to grant; what it intended before stays as it is. */
export async function insertGrants({ db, tenantId }: Tx, runId: string, grants: readonly NewGrant[]): Promise<void> {
  if (grants.length === 0) return;
  await db
    .insertInto('privilege_grant')
    .values(
      grants.map((grant) => ({ ...grant, id: newId(), tenantId, runId, expiresAt: grant.expiresAt.toISOString() })),
    )
    .onConflict((conflict) => conflict.columns(['tenantId', 'runId', 'userId', 'setId']).doNothing())
    .execute();
}

/** How a grant moves on. */
export interface GrantMove {
  id: string;
  state: GrantState;
  assignmentId?: string | undefined;
  error?: string | undefined;
}

const MOVES = GRANT_STATES.flatMap((before) => GRANT_MOVES[before].map((after) => ({ before, after })));

/** Moves grants on, all by one statement; those that have moved meanwhile stay as they are. */
export async function moveGrants({ db, tenantId, now }: Tx, moves: readonly GrantMove[]): Promise<void> {
  if (moves.length === 0) return;
  await sql`
    update privilege_grant as g set state = m.state, assignment_id = coalesce(m."assignmentId", g.assignment_id),
      error = m.error, taken_back_at = case m.state when 'taken_back' then ${now.toISOString()}::timestamptz else g.taken_back_at end,
      updated_at = now()
    from jsonb_to_recordset(${json(moves)}::jsonb) as m (id uuid, state text, "assignmentId" text, error text),
      jsonb_to_recordset(${json(MOVES)}::jsonb) as allowed (before text, after text)
    where g.tenant_id = ${tenantId} and g.id = m.id and g.state = allowed.before and m.state = allowed.after`.execute(
    db,
  );
}

/** Notes why the open grants of a run could not be taken back; false when that is known. */
export async function noteGrantError({ db, tenantId }: Tx, runId: string, error: string): Promise<boolean> {
  const noted = await db
    .updateTable('privilege_grant')
    .set({ error, updatedAt: sql<string>`now()` })
    .where('tenantId', '=', tenantId)
    .where('runId', '=', runId)
    .where((eb) => isOneOf(eb, 'state', OPEN_GRANTS))
    .where((eb) => eb('error', 'is distinct from', error))
    .returning('id')
    .execute();
  return noted.length > 0;
}

/** A run of which somebody may still have rights that it gave. */
export interface RunWithGrants extends TenantKey {
  runId: string;
}

/**
 * Runs whose grants should be gone: their time was over five minutes ago, or the run ended or was removed two minutes ago. Its
 * workflow takes them back; this is for one that was lost.
 */
export async function runsWithOverdueGrants(system: Database, limit: number): Promise<RunWithGrants[]> {
  return system
    .selectFrom('privilege_grant as g')
    .leftJoin('flow_run as r', (join) => join.onRef('r.tenantId', '=', 'g.tenantId').onRef('r.id', '=', 'g.runId'))
    .where((eb) => isOneOf(eb, 'g.state', OPEN_GRANTS))
    .where((eb) =>
      eb.or([
        eb('g.expiresAt', '<', secondsAgo(300)),
        eb('r.endedAt', '<', secondsAgo(120)),
        eb.and([eb('r.id', 'is', null), eb('g.updatedAt', '<', secondsAgo(120))]),
      ]),
    )
    .groupBy(['g.tenantId', 'g.runId'])
    .select(['g.tenantId', tenantSlugOf('g.tenantId'), 'g.runId'])
    .limit(limit)
    .execute();
}
