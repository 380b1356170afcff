import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Tx } from '../../unit-of-work.ts';

/** A run that no longer asks for its turn, as its workers are gone, keeps nobody who comes after it. */
const ASKS_WITHIN = sql`interval '5 minutes'`;

/**
 * Takes the turn to change an org, which a run keeps until it ends, whatever becomes of it: by time of arrival, one run at a
 * time. Answers the run that goes before; undefined: it is the turn of this one.
 */
export async function takeTurn(
  { db, tenantId }: Tx,
  { orgId, runId }: { orgId: string; runId: string },
): Promise<{ runId: string; taskType: string; projectId: string | null } | undefined> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${tenantId}/org-turn/${orgId}`}, 2))`.execute(db);
  await db
    .deleteFrom('org_turn as t')
    .using('flow_run as r')
    .whereRef('r.tenantId', '=', 't.tenantId')
    .whereRef('r.id', '=', 't.runId')
    .where('t.tenantId', '=', tenantId)
    .where('t.orgId', '=', orgId)
    .where('r.endedAt', 'is not', null)
    .execute();
  const now = sql<string>`clock_timestamp()`;
  await db
    .insertInto('org_turn')
    .values({ tenantId, orgId, runId, arrivedAt: now, askedAt: now })
    .onConflict((conflict) =>
      conflict.columns(['tenantId', 'runId']).doUpdateSet((eb) => ({
        orgId: eb.ref('excluded.orgId'),
        askedAt: eb.ref('excluded.askedAt'),
        beganAt: sql<string | null>`case when org_turn.org_id = excluded.org_id then org_turn.began_at end`,
      })),
    )
    .execute();
  const first = await db
    .selectFrom('org_turn as t')
    .innerJoin('flow_run as r', (join) => join.onRef('r.tenantId', '=', 't.tenantId').onRef('r.id', '=', 't.runId'))
    .where('t.tenantId', '=', tenantId)
    .where('t.orgId', '=', orgId)
    .where((eb) =>
      eb.or([eb('t.beganAt', 'is not', null), eb('t.askedAt', '>', sql<string>`clock_timestamp() - ${ASKS_WITHIN}`)]),
    )
    .orderBy(sql`t.began_at is null`)
    .orderBy('t.arrivedAt')
    .orderBy('t.runId')
    .limit(1)
    .select(['t.runId', 't.beganAt', 'r.taskType', 'r.projectId'])
    .executeTakeFirst();
  if (first && first.runId !== runId) {
    const { taskType, projectId } = first;
    return { runId: first.runId, taskType, projectId };
  }
  if (first?.beganAt === null)
    await db
      .updateTable('org_turn')
      .set({ beganAt: now })
      .where('tenantId', '=', tenantId)
      .where('runId', '=', runId)
      .execute();
  return undefined;
}

/** The place of a run among those that change an org; `beganAt` is null while it waits. Undefined: it has not asked for one. */
export const turnOf = ({ db, tenantId }: Reads, runId: string) =>
  db
    .selectFrom('org_turn')
    .where('tenantId', '=', tenantId)
    .where('runId', '=', runId)
    .select(['orgId', 'beganAt'])
    .executeTakeFirst();

/** Since when a run could change its org, in milliseconds: what it waited for its turn counts for nothing. Undefined: not yet. */
export async function atWorkSince(
  reads: Reads,
  { id, startedAt }: { id: string; startedAt: string | null },
): Promise<number | undefined> {
  const beganAt = (await turnOf(reads, id))?.beganAt ?? null;
  const times = [startedAt, beganAt].flatMap((at) => (at === null ? [] : [new Date(at).getTime()]));
  return times.length === 0 ? undefined : Math.max(...times);
}
