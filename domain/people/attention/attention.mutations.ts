import { sql } from 'kysely';
import type { AttentionRule } from '../../kernel/attention/attention-rule.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { findNeeds, type FoundNeed, readAttentionId } from './attention.queries.ts';

/** Whoever has seen something so long ago is asked again. */
const KEPT_DAYS = 180;

/**
 * Notes for the tenant that somebody has seen what a person should look at; repeating that changes nothing. Throws
 * `not_found` for what does not stand any more, or is of a kind that the caller is not told of.
 * @param rules those of which the caller is told.
 */
export async function acknowledgeNeed(
  tx: Tx,
  rules: readonly AttentionRule[],
  { id, comment }: { id: string; comment: string | null },
): Promise<FoundNeed> {
  const kind = readAttentionId(id)?.kind;
  const { needs } = await findNeeds(
    tx,
    rules.filter((rule) => rule.kind === kind),
    tx.now,
  );
  const need = needs.find((one) => one.id === id);
  if (!need) throw notFound('What is to be acknowledged');
  if (need.acknowledged) return need;
  const { db, tenantId, now, actor } = tx;
  const said = {
    fingerprint: need.fingerprint,
    acknowledgedBy: actor.email,
    acknowledgedAt: now.toISOString(),
    comment,
  };
  await db
    .insertInto('attention_acknowledgement')
    .values({ tenantId, kind: need.rule.kind, key: need.key, ...said })
    .onConflict((conflict) => conflict.columns(['tenantId', 'kind', 'key']).doUpdateSet(said))
    .execute();
  await db
    .deleteFrom('attention_acknowledgement')
    .where('tenantId', '=', tenantId)
    .where('acknowledgedAt', '<', sql<string>`now() - make_interval(days => ${sql.lit(KEPT_DAYS)})`)
    .execute();
  tx.audit({
    source: 'user',
    action: 'attention.acknowledged',
    entityType: 'attention_item',
    entityId: id,
    repositoryIdentifier: need.repositoryIdentifier,
    summary: `${actor.email} has seen: ${need.title}`,
    after: { reason: need.reason, comment },
  });
  return { ...need, acknowledged: { by: actor.email, at: now.toISOString(), comment } };
}
