import { sql } from 'kysely';
import { json } from '../../../kernel/data/columns.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { Database } from '../../../kernel/data/tables.ts';
import { tenantSlugOf } from '../../../kernel/tenants/tenants.queries.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { newId } from '../../../kernel/shared/ids.ts';
import { type Hold, type HoldEnd, type HoldingEnvironment, holdsNow, nextEnd, type StoredHold } from './hold-rules.ts';

/** A candidate, or what stands for one, with its holds as they are stored. */
export interface Holdable {
  holds: readonly StoredHold[];
  contentDigest: string;
}

/**
 * The holds of candidates that count at a moment. It costs a query only where a verification holds one of them.
 * @param now of the request.
 */
export async function holdsOf<Candidate extends Holdable>(
  reads: Reads,
  candidates: readonly Candidate[],
  now: Date,
): Promise<(candidate: Candidate) => Hold[]> {
  const ids = candidates.flatMap(({ holds }) => holds.flatMap(({ verification }) => verification?.environmentId ?? []));
  const environments = await holdingEnvironments(reads, [...new Set(ids)]);
  return ({ holds, contentDigest }) => holdsNow(holds, { contentDigest, environments, now: now.getTime() });
}

async function holdingEnvironments(
  { db, tenantId }: Reads,
  ids: readonly string[],
): Promise<Map<string, HoldingEnvironment>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('environment')
    .where('tenantId', '=', tenantId)
    .where('id', '=', sql<string>`any (${ids}::uuid[])`)
    .select(['id', 'name', 'orchestrationOrder as order'])
    .execute();
  return new Map(rows.map(({ id, ...environment }) => [id, environment]));
}

/** Replaces the holds of a candidate; its version stays, as they are no content. The domain's lock must be held. */
export async function updateHolds(
  { db, tenantId, actor, now }: Tx,
  id: string,
  holds: readonly StoredHold[],
): Promise<void> {
  await db
    .updateTable('release_candidate')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .set({ holds: json([...holds]), holdEndsAt: nextEnd(holds), updatedBy: actor.email, updatedAt: now })
    .execute();
}

/** Notes holds that begin (`end` undefined) and end among what became of their candidate. */
export async function insertHoldEvents(
  { db, tenantId, actor, now }: Tx,
  { id: candidateId, projectId }: { id: string; projectId: string },
  changes: readonly { hold: Hold; end: HoldEnd | undefined }[],
): Promise<void> {
  if (changes.length === 0) return;
  await db
    .insertInto('release_candidate_event')
    .values(
      changes.map(({ hold: { stored }, end }) => ({
        id: newId(),
        tenantId,
        projectId,
        candidateId,
        type: end === undefined ? ('held' as const) : ('hold_lifted' as const),
        after: end ?? 'held',
        by: actor.email,
        at: now,
        reason: stored.reason,
        until: stored.until,
        environmentId: stored.verification?.environmentId ?? null,
      })),
    )
    .execute();
}

/** Candidates of all tenants with a hold whose time is over; `db` has the role of the system. */
export const candidatesWithEndedHolds = (db: Database, limit: number) =>
  db
    .selectFrom('release_candidate')
    .where('holdEndsAt', '<=', sql<string>`now()`)
    .orderBy('holdEndsAt')
    .limit(limit)
    .select(['tenantId', tenantSlugOf('tenantId'), 'id'])
    .execute();
