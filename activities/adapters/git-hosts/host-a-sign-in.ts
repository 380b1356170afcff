import { z } from 'zod';
import type { AccountOutcome } from '../../../domain/identity/auth/code-host.port.ts';
import { failedSignIn } from '../outbound/outbound-http.ts';
import type { AskHost } from './sign-in-hosts.ts';

const PAGE = 100;
/** Nobody has more addresses. */
const MAX_PAGES = 5;

const Account = z.object({ id: z.union([z.number(), z.string()]), login: z.string().min(1) });
const Emails = z.array(z.object({ email: z.string(), verified: z.boolean() }));

/** The person whom a token of host-a belongs to: `GET /user` and `GET /user/emails` of its REST interface, version 2022-11-28. */
export const hostAAccount =
  (ask: AskHost, apiUrl: string) =>
  async (token: string): Promise<AccountOutcome> => {
    /** A page of the interface; without the right to read addresses, a token gets 403 or 404 for them. */
    const get = async <Value>(path: string, schema: z.ZodType<Value>) => {
      const headers = {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${token}`,
        'x-github-api-version': '2022-11-28',
      };
      const reply = await ask({ url: `${apiUrl}${path}`, headers });
      if (!reply.isOk) return failedSignIn(reply);
      const { status, json } = reply.value;
      if ([401, 403, 404].includes(status)) return { outcome: 'refused' as const };
      const found = status < 300 ? schema.safeParse(json).data : undefined;
      return found === undefined ? FAILED : { outcome: 'found' as const, found };
    };
    const account = await get('/user', Account);
    if (account.outcome !== 'found') return account;
    const { id, login: username } = account.found;
    const emails: string[] = [];
    for (let page = 1; page <= MAX_PAGES; page++) {
      const list = await get(`/user/emails?per_page=${PAGE}&page=${page}`, Emails);
      if (list.outcome !== 'found') return list;
      emails.push(...list.found.filter(({ verified }) => verified).map(({ email }) => email.toLowerCase()));
      if (list.found.length < PAGE) break;
    }
    return { outcome: 'found', account: { externalId: String(id), username, emails } };
  };

const FAILED = { outcome: 'failed', reason: 'error' } as const;
