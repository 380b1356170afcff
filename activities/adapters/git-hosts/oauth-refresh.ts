import { z } from 'zod';
import type { RefreshOutcome } from '../../../domain/identity/auth/code-host.port.ts';
import { failedSignIn } from '../outbound/outbound-http.ts';
import type { AskHost } from './sign-in-hosts.ts';

export interface OAuthApp {
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
}

const Tokens = z.object({
  access_token: z.string().min(1),
  // host-a leaves it out for an app whose tokens do not expire.
  expires_in: z.coerce.number().nonnegative().default(0),
  refresh_token: z.string().optional(),
  token_type: z.string().default('bearer'),
});
const Refusal = z.object({ error: z.string() });

/** Errors about the app and not the person's token: RFC 6749, section 5.2, and host-a's own codes. */
const APP_ERRORS = new Set([
  'invalid_client',
  'unauthorized_client',
  'incorrect_client_credentials',
  'unsupported_grant_type',
]);

/**
 * Refreshes tokens at a host's token endpoint (RFC 6749, section 6). host-a answers refusals with 200, so the body is
 * read before the status.
 */
export const oauthRefresh =
  (ask: AskHost, { tokenUrl, clientId, clientSecret }: OAuthApp) =>
  async (refreshToken: string): Promise<RefreshOutcome> => {
    const reply = await ask({
      method: 'POST',
      url: tokenUrl,
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: refreshToken,
        client_id: clientId,
        client_secret: clientSecret,
      }).toString(),
    });
    if (!reply.isOk) return failedSignIn(reply);
    const { status, json } = reply.value;
    const refusal = Refusal.safeParse(json);
    if (refusal.success && status < 500)
      return { outcome: APP_ERRORS.has(refusal.data.error) ? 'app_refused' : 'refused' };
    const tokens = Tokens.safeParse(json);
    if (status >= 300 || !tokens.success) return { outcome: 'failed', reason: 'error' };
    const {
      access_token: accessToken,
      expires_in: expiresInSeconds,
      refresh_token: next = refreshToken,
      token_type: tokenType,
    } = tokens.data;
    return { outcome: 'refreshed', tokens: { accessToken, expiresInSeconds, refreshToken: next, tokenType } };
  };
