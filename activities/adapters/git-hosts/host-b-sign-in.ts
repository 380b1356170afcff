import { z } from 'zod';
import type { AccountOutcome } from '../../../domain/identity/auth/code-host.port.ts';
import { boundedFetch, failureOf } from '../outbound/bounded-fetch.ts';

const Profile = z.object({ id: z.string().min(1), emailAddress: z.string().optional() });

/**
 * The person whom a token of host-b belongs to: its profile interface, version 7.1. A profile has one address, which the
 * host has verified.
 */
export const hostBAccount =
  (apiUrl: string, timeoutMs: number) =>
  async (token: string): Promise<AccountOutcome> => {
    try {
      const answer = await boundedFetch({ timeoutMs, maxBytes: 1_048_576 })(
        `${apiUrl}/_apis/profile/profiles/me?api-version=7.1`,
        {
          headers: { accept: 'application/json', authorization: `Bearer ${token}` },
        },
      );
      // An invalid token is answered 401, or by a redirect or 203 with its sign-in page.
      if ([203, 302, 401, 403].includes(answer.status)) return { outcome: 'refused' };
      const profile = answer.ok ? Profile.safeParse(await answer.json()) : undefined;
      if (!profile?.success) return { outcome: 'failed', reason: 'error' };
      const { id: externalId, emailAddress } = profile.data;
      const email = emailAddress?.toLowerCase();
      return { outcome: 'found', account: { externalId, username: email ?? externalId, emails: email ? [email] : [] } };
    } catch (error) {
      return failureOf(error);
    }
  };
