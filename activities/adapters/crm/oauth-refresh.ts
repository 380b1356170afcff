import { z } from 'zod';
import type { RefreshOutcome } from '../../../domain/identity/auth/code-host.port.ts';
import { boundedFetch, failureOf } from '../outbound/bounded-fetch.ts';

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
  ({ tokenUrl, clientId, clientSecret }: OAuthApp, timeoutMs: number) =>
  async (refreshToken: string): Promise<RefreshOutcome> => {
    try {
      const answer = await boundedFetch({ timeoutMs, maxBytes: 65_536 })(tokenUrl, {
        method: 'POST',
        headers: { accept: 'application/json' },
        body: new URLSearchParams({
          grant_type: 'refresh_token',
          refresh_token: refreshToken,
          client_id: clientId,
          client_secret: clientSecret,
        }),
      });
      const body: unknown = await answer.json();
      const refusal = Refusal.safeParse(body);
      if (refusal.success && answer.status < 500)
        return { outcome: APP_ERRORS.has(refusal.data.error) ? 'app_refused' : 'refused' };
      const tokens = Tokens.safeParse(body);
      if (!answer.ok || !tokens.success) return { outcome: 'failed', reason: 'error' };
      const {
        access_token: accessToken,
        expires_in: expiresInSeconds,
        refresh_token: next = refreshToken,
        token_type: tokenType,
      } = tokens.data;
      return { outcome: 'refreshed', tokens: { accessToken, expiresInSeconds, refreshToken: next, tokenType } };
    } catch (error) {
      return failureOf(error);
    }
  };
