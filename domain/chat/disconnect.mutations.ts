import { LockMode } from '@mikro-orm/core';
import type { Tx } from '../unit-of-work.ts';
import { emitEvent } from '../webhooks/event-catalog.ts';
import { ChatWorkspace } from './chat.entities.ts';
import { renewTargets } from './chat-workspaces.mutations.ts';
import type { ChatActionContent } from './inbound-rules.ts';

const REASONS = {
  app_uninstalled: 'the app was removed from the workspace',
  tokens_revoked: 'the tokens of the app were revoked',
} as const;

/** Makes a workspace inactive whose app lost its rights there; nothing when it was connected again since. */
export async function disconnectWorkspace(
  tx: Tx,
  id: string,
  { reason, occurredAt }: Extract<ChatActionContent, { kind: 'disconnect' }>,
): Promise<void> {
  const workspace = await tx.em.findOne(
    ChatWorkspace,
    { tenantId: tx.tenantId, id, isActive: true },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (!workspace) return;
  // The platform's time has no fraction of a second.
  if (occurredAt !== null && Math.floor(workspace.connectedAt.getTime() / 1_000) * 1_000 > Date.parse(occurredAt))
    return;
  workspace.isActive = false;
  const { teamId, teamName } = workspace;
  tx.audit({
    source: 'slack',
    action: 'chat_workspace.disconnected',
    entityType: 'chat_workspace',
    entityId: id,
    summary: `Chat workspace ${teamName} (${teamId}) disconnected: ${REASONS[reason]}`,
    before: { isActive: true },
    after: { isActive: false, reason },
  });
  emitEvent(tx, 'chat_workspace.disconnected', { workspaceId: id, teamId, teamName, reason: REASONS[reason] });
  await tx.em.flush();
  await renewTargets(tx);
}
