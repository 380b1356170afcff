import { announceExpiry, expiringTokens } from '../../domain/application-tokens/token-expiry.queries.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import type { Deps } from '../deps.ts';

/** Tells of tokens that expire soon, each once. */
export async function announceExpiringTokens({
  systemPool,
  actingAs,
}: Pick<Deps, 'systemPool' | 'actingAs'>): Promise<number> {
  const tokens = await expiringTokens(systemPool);
  for (const { id, tenantId } of tokens)
    await actingAs(systemActor(tenantId, 'application-tokens'))((tx) => announceExpiry(tx, id));
  return tokens.length;
}
