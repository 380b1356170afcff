import type { ChatLaneKey } from '../../../domain/people/chat/chat-actions.queries.ts';
import { voidTokenOf } from '../../../domain/people/chat/chat-failure-rules.ts';
import type { ChatFailure } from '../../../domain/people/chat/chat-platform.port.ts';
import { disconnectWorkspace } from '../../../domain/people/chat/disconnect.mutations.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { Deps } from '../../deps.ts';

/** A workspace, with the encrypted token with which it was asked. */
export interface AskedWorkspace extends ChatLaneKey {
  botToken: string;
}

/** Makes a workspace inactive whose token is void by a failure: it is not asked again until it is connected again. */
export async function noteVoidToken(
  { actingAs, log }: Pick<Deps, 'actingAs' | 'log'>,
  { tenantId, tenantSlug, workspaceId, botToken }: AskedWorkspace,
  failure: ChatFailure,
): Promise<void> {
  const reason = voidTokenOf(failure);
  if (reason === undefined) return;
  const actor = systemActor({ tenantId, tenantSlug }, 'chat');
  await actingAs(actor)((tx) => disconnectWorkspace(tx, workspaceId, { reason, botToken })).catch((error: unknown) =>
    log.warn({ err: error, workspaceId }, 'a chat workspace whose token is void was not made inactive'),
  );
}
