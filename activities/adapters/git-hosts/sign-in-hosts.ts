import type { SignInAtHost, SignInHost } from '../../../domain/identity/auth/code-host.port.ts';
import type { Config } from '../../../domain/kernel/settings/config.ts';
import { hostAAccount } from './host-a-sign-in.ts';
import { hostBAccount } from './host-b-sign-in.ts';
import { oauthRefresh } from '../crm/oauth-refresh.ts';

const TIMEOUT_MS = 10_000;

/** The hosts that the environment configures. */
export function configuredSignInHosts(config: Config, timeoutMs = TIMEOUT_MS): Record<SignInHost, SignInAtHost> {
  const { HOST_A_API_URL: apiUrlA, HOST_B_API_URL: apiUrlB } = config;
  const refreshA = refreshOf(
    config.HOST_A_OAUTH_TOKEN_URL,
    config.HOST_A_OAUTH_CLIENT_ID,
    config.HOST_A_OAUTH_CLIENT_SECRET,
    timeoutMs,
  );
  const refreshB = refreshOf(
    config.HOST_B_OAUTH_TOKEN_URL,
    config.HOST_B_OAUTH_CLIENT_ID,
    config.HOST_B_OAUTH_CLIENT_SECRET,
    timeoutMs,
  );
  return {
    'host-a': {
      ...(apiUrlA && { accountOf: hostAAccount(apiUrlA.replace(/\/$/, ''), timeoutMs) }),
      ...(refreshA && { refresh: refreshA }),
    },
    'host-b': {
      ...(apiUrlB && { accountOf: hostBAccount(apiUrlB.replace(/\/$/, ''), timeoutMs) }),
      ...(refreshB && { refresh: refreshB }),
    },
  };
}

function refreshOf(
  tokenUrl: string | undefined,
  clientId: string | undefined,
  clientSecret: string | undefined,
  timeoutMs: number,
) {
  if (tokenUrl === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  return oauthRefresh({ tokenUrl, clientId, clientSecret }, timeoutMs);
}
