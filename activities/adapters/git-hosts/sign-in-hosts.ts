import type { SignInAtHost, SignInHost } from '../../../domain/identity/auth/code-host.port.ts';
import type { Config } from '../../../domain/kernel/settings/config.ts';
import { hostAAccount } from './host-a-sign-in.ts';
import { hostBAccount } from './host-b-sign-in.ts';
import { createOutboundHttp, type OutboundAnswer, type OutboundCall, readJson } from '../outbound/outbound-http.ts';
import { oauthRefresh } from './oauth-refresh.ts';

const TIMEOUT_MS = 10_000;
const REPLY_MAX_BYTES = 1_048_576;

/** Calls a host, whose reply is JSON. */
export type AskHost = (
  call: Omit<OutboundCall, 'timeoutMs' | 'maxBytes'>,
) => Promise<OutboundAnswer<{ status: number; json: unknown }>>;

/** The hosts that the environment configures. */
export function configuredSignInHosts(config: Config, timeoutMs = TIMEOUT_MS): Record<SignInHost, SignInAtHost> {
  const http = createOutboundHttp(undefined);
  const ask: AskHost = (call) => http.send({ ...call, timeoutMs, maxBytes: REPLY_MAX_BYTES }, readJson);
  const account = (of: typeof hostAAccount, apiUrl = '') =>
    apiUrl === '' ? {} : { accountOf: of(ask, apiUrl.replace(/\/$/, '')) };
  const refresh = (tokenUrl?: string, clientId?: string, clientSecret?: string) =>
    tokenUrl === undefined || clientId === undefined || clientSecret === undefined
      ? {}
      : { refresh: oauthRefresh(ask, { tokenUrl, clientId, clientSecret }) };
  return {
    'host-a': {
      ...account(hostAAccount, config.HOST_A_API_URL),
      ...refresh(config.HOST_A_OAUTH_TOKEN_URL, config.HOST_A_OAUTH_CLIENT_ID, config.HOST_A_OAUTH_CLIENT_SECRET),
    },
    'host-b': {
      ...account(hostBAccount, config.HOST_B_API_URL),
      ...refresh(config.HOST_B_OAUTH_TOKEN_URL, config.HOST_B_OAUTH_CLIENT_ID, config.HOST_B_OAUTH_CLIENT_SECRET),
    },
  };
}
