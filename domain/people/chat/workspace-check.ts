import type { ActorReads } from '../../kernel/data/fenced-reads.ts';
import type { Encryption } from '../../kernel/encryption/encryption.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import type { UnitOfWork } from '../../unit-of-work.ts';
import type { BotIdentity, ChatPlatform } from './chat-platform.port.ts';
import { openChatSecret } from './chat-secrets.ts';
import { noteIdentity } from './chat-workspaces.mutations.ts';
import { findWorkspace, secretsOfWorkspace } from './chat-workspaces.queries.ts';
import { BOT_SCOPES } from './manifest-rules.ts';

export interface WorkspaceCheck {
  /** Why the workspace cannot be used; undefined: it can. */
  problem: string | undefined;
  /** Undefined where the platform did not say. */
  identity: BotIdentity | undefined;
}

interface CheckParts {
  platform: ChatPlatform;
  encryption: Encryption;
  reads: ActorReads;
  tx: UnitOfWork;
}

/**
 * Asks the platform whether the tokens of a workspace work, and keeps what it says of the app.
 * @param teamId default: the newest active workspace. Throws `not_found`.
 */
export async function checkWorkspace(
  { platform, encryption, reads, tx }: CheckParts,
  teamId: string | undefined,
): Promise<WorkspaceCheck> {
  const workspace = await findWorkspace(reads, teamId);
  const secrets = workspace && (await secretsOfWorkspace(reads, workspace.id));
  if (!secrets) throw notFound(teamId === undefined ? 'An active chat workspace' : 'The chat workspace');
  const botToken = openChatSecret(encryption, workspace.id, secrets.botToken);
  const bot = await platform.identifyBot(botToken);
  if (!bot.isOk) return { problem: bot.reason, identity: undefined };
  const identity = bot.value;
  if (identity.teamId !== workspace.teamId)
    return {
      problem: `The bot token belongs to the workspace ${identity.teamName} (${identity.teamId}), not to ${workspace.teamId}`,
      identity,
    };
  const missing = BOT_SCOPES.filter((scope) => !identity.scopes.includes(scope));
  if (missing.length > 0)
    return { problem: `The app lacks scopes: ${missing.join(', ')}; install it again with the manifest`, identity };
  const app = await platform.appOfBot(botToken, identity.botId);
  await tx((work) => noteIdentity(work, workspace.id, identity, app.isOk ? app.value : undefined));
  if (secrets.appToken === null) return { problem: undefined, identity };
  const appToken = await platform.checkAppToken(openChatSecret(encryption, workspace.id, secrets.appToken));
  return { problem: appToken.isOk ? undefined : `The app token does not work: ${appToken.reason}`, identity };
}
