import { z } from 'zod';
import type { AccountOutcome } from '../../../domain/identity/auth/code-host.port.ts';
import { failedSignIn } from '../outbound/outbound-http.ts';
import type { AskHost } from './sign-in-hosts.ts';

const Profile = z.object({ id: z.string().min(1), emailAddress: z.string().optional() });

/**
 * The person whom a token of host-b belongs to: its profile interface, version 7.1. A profile has one address, which the
 * host has verified.
 */
export const hostBAccount =
  (ask: AskHost, apiUrl: string) =>
  async (token: string): Promise<AccountOutcome> => {
    const url = `${apiUrl}/_apis/profile/profiles/me?api-version=7.1`;
    const headers = { accept: 'application/json', authorization: `Bearer ${token}` };
    const reply = await ask({ url, headers });
    if (!reply.isOk) return failedSignIn(reply);
    const { status, json } = reply.value;
    // An invalid token is answered 401, or by a redirect or 203 with its sign-in page.
    if ([203, 302, 401, 403].includes(status)) return { outcome: 'refused' };
    const profile = status < 300 ? Profile.safeParse(json) : undefined;
    if (!profile?.success) return { outcome: 'failed', reason: 'error' };
    const { id: externalId, emailAddress } = profile.data;
    const email = emailAddress?.toLowerCase();
    return { outcome: 'found', account: { externalId, username: email ?? externalId, emails: email ? [email] : [] } };
  };
