import { LockMode } from '@mikro-orm/core';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { ChatWorkspace } from './chat.entities.ts';
import { renewTargets } from './chat-workspaces.mutations.ts';
import type { VoidToken } from './chat-failure-rules.ts';
import type { ChatActionContent } from './inbound-rules.ts';

const REASONS = {
  app_uninstalled: 'the app was removed from the workspace',
  tokens_revoked: 'the tokens of the app were revoked',
  invalid_auth: 'the platform does not know the token of the app',
  token_revoked: 'the token of the app was revoked',
  account_inactive: 'the app was removed from the workspace, or its bot user was deactivated',
} as const satisfies Record<VoidToken | Reported['reason'], string>;

/** What the platform reports. */
type Reported = Omit<Extract<ChatActionContent, { kind: 'disconnect' }>, 'kind'>;
/** What a call came to. */
interface Refused {
  reason: VoidToken;
  /** Encrypted, as the workspace had it. */
  botToken: string;
}

/** Makes a workspace inactive whose app lost its rights there; nothing when it was connected again since. */
export async function disconnectWorkspace(tx: Tx, id: string, cause: Reported | Refused): Promise<void> {
  const workspace = await tx.em.findOne(
    ChatWorkspace,
    { tenantId: tx.tenantId, id, isActive: true },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (!workspace) return;
  if (isOutdated(cause, workspace)) return;
  const { reason } = cause;
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

/** Whether the workspace was connected again since. */
function isOutdated(cause: Reported | Refused, { connectedAt, botToken }: ChatWorkspace): boolean {
  if ('botToken' in cause) return cause.botToken !== botToken;
  // The platform's time has no fraction of a second.
  const since = Math.floor(connectedAt.getTime() / 1_000) * 1_000;
  return cause.occurredAt !== null && since > Date.parse(cause.occurredAt);
}
