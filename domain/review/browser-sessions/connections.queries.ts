import { presentActor } from '../../identity/auth/present-actor.queries.ts';
import type { FencedReads } from '../../kernel/data/fenced-reads.ts';
import type { HostGrant } from './hosts/host-tokens.ts';
import { mayChange } from './session-rules.ts';
import { findSession } from './sessions.queries.ts';

/** Whether who was let connect to a session may still change it: they are active, reach it, and it was not deleted. */
export async function mayStillConnect(
  reads: FencedReads,
  { by, sessionId }: Pick<HostGrant, 'by' | 'sessionId'>,
): Promise<boolean> {
  const actor = await presentActor(reads.as(by), by);
  if (!actor) return false;
  const session = await findSession(reads.as(actor), sessionId);
  return session !== undefined && session.removedAt === null && mayChange(actor, session);
}
