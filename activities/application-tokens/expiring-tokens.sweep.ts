import { announceExpiry, expiringTokens } from '../../domain/application-tokens/token-expiry.queries.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import type { Deps } from '../deps.ts';

/** Tells of tokens that expire soon, each once. */
export async function announceExpiringTokens({
  lanesPool,
  actingAs,
}: Pick<Deps, 'lanesPool' | 'actingAs'>): Promise<number> {
  const tokens = await expiringTokens(lanesPool);
  for (const { id, tenantId } of tokens)
    await actingAs(systemActor(tenantId, 'application-tokens'))((tx) => announceExpiry(tx, id));
  return tokens.length;
}
