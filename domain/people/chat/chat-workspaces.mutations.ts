import { LockMode } from '@mikro-orm/core';
import { sql } from 'kysely';
import type { Encryption } from '../../kernel/encryption/encryption.ts';
import { DomainError, notFound } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { BotApp, BotIdentity } from './chat-platform.port.ts';
import { sealChatSecret } from './chat-secrets.ts';
import { ChatWorkspace } from './chat.entities.ts';
import { WORKSPACES_MAX } from './chat-workspaces.queries.ts';

export interface WorkspaceInput {
  teamId: string;
  teamName: string;
  botToken: string;
  appToken: string | null;
  signingSecret: string;
  appId: string | null;
  appName: string | null;
  botUserId: string | null;
}

const sealed = (encryption: Encryption, id: string, input: WorkspaceInput) => ({
  ...input,
  botToken: sealChatSecret(encryption, id, input.botToken),
  appToken: input.appToken === null ? null : sealChatSecret(encryption, id, input.appToken),
  signingSecret: sealChatSecret(encryption, id, input.signingSecret),
});

/** Makes a workspace active, or replaces the one with the same `teamId`. Throws `invalid_request` for one too many. */
export async function putWorkspace(tx: Tx, encryption: Encryption, input: WorkspaceInput): Promise<ChatWorkspace> {
  // The second of two requests for one new workspace replaces it.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`chat-workspaces/${tx.tenantId}`}, 0))`.execute(tx.db);
  const existing = await tx.em.findOne(
    ChatWorkspace,
    { tenantId: tx.tenantId, teamId: input.teamId },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (existing) {
    const before = shown(existing);
    tx.em.assign(existing, { ...sealed(encryption, existing.id, input), isActive: true, connectedAt: tx.now });
    note(tx, 'updated', existing, { before, after: { ...shown(existing), secrets: 'replaced' } });
    await tx.em.flush();
    await renewTargets(tx);
    return existing;
  }
  if ((await tx.em.count(ChatWorkspace, { tenantId: tx.tenantId })) >= WORKSPACES_MAX)
    throw new DomainError('invalid_request', `A tenant has at most ${WORKSPACES_MAX} chat workspaces`);
  const id = newId();
  const workspace = tx.em.create(ChatWorkspace, {
    ...sealed(encryption, id, input),
    id,
    tenantId: tx.tenantId,
    createdBy: tx.actor.email,
    connectedAt: tx.now,
  });
  await tx.em.flush();
  await renewTargets(tx);
  note(tx, 'created', workspace, { after: shown(workspace) });
  return workspace;
}

/** Absent members stay as they are. */
export type WorkspaceChange = Partial<Omit<WorkspaceInput, 'teamId'>> & { isActive?: boolean };

/**
 * Changes the workspace of that id of the platform, or the only one. Throws `not_found`, and `ambiguous` where none is
 * named and there are several.
 */
export async function changeWorkspace(
  tx: Tx,
  encryption: Encryption,
  teamId: string | undefined,
  change: WorkspaceChange,
): Promise<ChatWorkspace> {
  const workspace = await lockedWorkspace(tx, teamId);
  const before = shown(workspace);
  const seal = (secret: string) => sealChatSecret(encryption, workspace.id, secret);
  const { botToken, appToken, signingSecret, ...plain } = change;
  tx.em.assign(workspace, {
    ...plain,
    ...((botToken !== undefined || (change.isActive === true && !workspace.isActive)) && { connectedAt: tx.now }),
    ...(botToken !== undefined && { botToken: seal(botToken) }),
    ...(appToken !== undefined && { appToken: appToken === null ? null : seal(appToken) }),
    ...(signingSecret !== undefined && { signingSecret: seal(signingSecret) }),
  });
  const replaced = Object.keys({ botToken, appToken, signingSecret }).filter((name) => name in change);
  note(tx, 'updated', workspace, {
    before,
    after: { ...shown(workspace), ...(replaced.length > 0 && { secrets: `replaced: ${replaced.join(', ')}` }) },
  });
  await tx.em.flush();
  await renewTargets(tx);
  return workspace;
}

/** Removes a workspace with its secrets; which one, as `changeWorkspace`. */
export async function deleteWorkspace(tx: Tx, teamId: string | undefined): Promise<ChatWorkspace> {
  const workspace = await lockedWorkspace(tx, teamId);
  note(tx, 'deleted', workspace, { before: shown(workspace) });
  await tx.em.remove(workspace).flush();
  await renewTargets(tx);
  return workspace;
}

/** Keeps what the platform says of the app; nothing when it is known already, or the workspace is gone. */
export async function noteIdentity(
  tx: Tx,
  id: string,
  { botUserId }: BotIdentity,
  app: BotApp | undefined,
): Promise<void> {
  const workspace = await tx.em.findOne(
    ChatWorkspace,
    { tenantId: tx.tenantId, id },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (!workspace) return;
  const before = shown(workspace);
  tx.em.assign(workspace, { botUserId, ...app });
  const after = shown(workspace);
  if (before.botUserId === after.botUserId && before.appId === after.appId && before.appName === after.appName) return;
  note(tx, 'updated', workspace, { before, after });
  await tx.em.flush();
}

async function lockedWorkspace(tx: Tx, teamId: string | undefined): Promise<ChatWorkspace> {
  const where = { tenantId: tx.tenantId, ...(teamId !== undefined && { teamId }) };
  const found = await tx.em.find(ChatWorkspace, where, {
    lockMode: LockMode.PESSIMISTIC_WRITE,
    orderBy: { id: 'asc' },
    limit: 2,
  });
  const [workspace] = found;
  if (!workspace) throw notFound('The chat workspace');
  if (found.length > 1)
    throw new DomainError('ambiguous', 'There are several chat workspaces: name one by its team_id');
  return workspace;
}

/** Has the lanes of webhooks that notify channels look at the workspaces again. */
export const renewTargets = ({ db, tenantId }: Tx) =>
  db
    .updateTable('webhook')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('tenantId', '=', tenantId)
    .where('channel', 'is not', null)
    .execute();

const shown = ({ teamId, teamName, appId, appName, botUserId, isActive, appToken }: ChatWorkspace) => ({
  teamId,
  teamName,
  appId: appId ?? null,
  appName: appName ?? null,
  botUserId: botUserId ?? null,
  isActive,
  hasAppToken: appToken !== null && appToken !== undefined,
});

const note = (
  tx: Tx,
  change: 'created' | 'updated' | 'deleted',
  { id, teamId, teamName }: ChatWorkspace,
  states: { before?: unknown; after?: unknown },
): void =>
  tx.audit({
    source: 'slack',
    action: `chat_workspace.${change}`,
    entityType: 'chat_workspace',
    entityId: id,
    summary: `Chat workspace ${teamName} (${teamId}) ${change}`,
    ...states,
  });
