import { announceExpiry } from '../../domain/application-tokens/application-tokens.mutations.ts';
import { expiringTokens } from '../../domain/application-tokens/application-tokens.queries.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import type { Deps } from '../deps.ts';

/** Announces tokens that expire soon, each once. */
export async function announceExpiringTokens({ system, actingAs }: Pick<Deps, 'system' | 'actingAs'>): Promise<number> {
  const tokens = await expiringTokens(system);
  for (const { id, tenantId } of tokens)
    await actingAs(systemActor(tenantId, 'application-tokens'))((tx) => announceExpiry(tx, id));
  return tokens.length;
}
