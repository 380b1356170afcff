import { z } from 'zod';
import type { AccountOutcome } from '../../../domain/identity/auth/code-host.port.ts';
import { boundedFetch, failureOf } from '../outbound/bounded-fetch.ts';

const PAGE = 100;
/** Nobody has more addresses. */
const MAX_PAGES = 5;

const Account = z.object({ id: z.union([z.number(), z.string()]), login: z.string().min(1) });
const Emails = z.array(z.object({ email: z.string(), verified: z.boolean() }));

/** The person whom a token of host-a belongs to: `GET /user` and `GET /user/emails` of its REST interface, version 2022-11-28. */
export const hostAAccount =
  (apiUrl: string, timeoutMs: number) =>
  async (token: string): Promise<AccountOutcome> => {
    const fetchBounded = boundedFetch({ timeoutMs, maxBytes: 1_048_576 });
    const get = (path: string) =>
      fetchBounded(`${apiUrl}${path}`, {
        headers: {
          accept: 'application/vnd.github+json',
          authorization: `Bearer ${token}`,
          'x-github-api-version': '2022-11-28',
          'user-agent': 'quayside',
        },
      });
    try {
      const answer = await get('/user');
      // A token without the right to read addresses gets 403 or 404 there.
      if ([401, 403, 404].includes(answer.status)) return { outcome: 'refused' };
      const account = answer.ok ? Account.safeParse(await answer.json()) : undefined;
      if (!account?.success) return { outcome: 'failed', reason: 'error' };
      const emails: string[] = [];
      for (let page = 1; page <= MAX_PAGES; page++) {
        const list = await get(`/user/emails?per_page=${PAGE}&page=${page}`);
        if ([401, 403, 404].includes(list.status)) return { outcome: 'refused' };
        const found = list.ok ? Emails.safeParse(await list.json()) : undefined;
        if (!found?.success) return { outcome: 'failed', reason: 'error' };
        emails.push(...found.data.filter(({ verified }) => verified).map(({ email }) => email.toLowerCase()));
        if (found.data.length < PAGE) break;
      }
      return {
        outcome: 'found',
        account: { externalId: String(account.data.id), username: account.data.login, emails },
      };
    } catch (error) {
      return failureOf(error);
    }
  };
