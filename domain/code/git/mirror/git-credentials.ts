import { findCredentials } from '../../../projects/integrations/integrations.mutations.ts';
import type { Platform } from '../../../projects/projects/projects.entities.ts';
import type { Encryption } from '../../../kernel/encryption/encryption.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { isOnServer } from './git-credential-rules.ts';
import type { GitCredential } from './git-mirrors.port.ts';
import { parseGitRemote } from '../../../projects/remotes/git-remote-rules.ts';

/** The user name that each host expects beside a token. */
const TOKEN_USERS: Record<Platform, string> = { 'host-a': 'x-access-token', 'host-b': 'token', 'host-c': 'oauth2' };

/**
 * The credential for a project's remote: that of the integration of its host, and only if the remote is on the
 * integration's server, so that a secret is sent nowhere else. For ssh the token is a private key, its line breaks written as `\n`.
 */
export async function gitCredential(
  tx: Tx,
  encryption: Encryption,
  {
    projectId,
    platform,
    remoteUrl,
    repositoryIdentifier,
  }: { projectId: string; platform: Platform; remoteUrl: string; repositoryIdentifier: string },
): Promise<GitCredential | undefined> {
  const parsed = parseGitRemote(remoteUrl);
  if (!parsed.isOk || parsed.remote.transport === 'file') return undefined;
  const found = await findCredentials(tx, encryption, {
    kind: platform,
    projectId,
    purpose: `fetch of ${repositoryIdentifier}`,
  });
  if (!found || !isOnServer(parsed.remote, platform, found.baseUrl)) return undefined;
  const { credentials } = found;
  if (credentials.type === 'basic') return { username: credentials.username, password: credentials.password };
  const username = credentials.username ?? TOKEN_USERS[platform];
  return credentials.token.includes('PRIVATE KEY')
    ? { username, privateKey: credentials.token.replaceAll('\\n', '\n') }
    : { username, password: credentials.token };
}
