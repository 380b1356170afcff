import { textArray } from '../shared/text-array.ts';
import type { Tx } from '../unit-of-work.ts';
import type { HostAccount, SignInHost } from './code-host.port.ts';

/** More than a person has; a host that sends more is not believed. */
const MAX_EMAILS = 100;
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,189}$/;

/**
 * Keeps what a host says of a user: its verified e-mails as aliases, and the account as the user's there. What belongs
 * to another user stays theirs. Answers those of the e-mails that name the user now.
 */
export async function keepHostAccount(
  sql: Tx['sql'],
  userId: string,
  host: SignInHost,
  { externalId, username, emails }: HostAccount,
): Promise<string[]> {
  const claimed = emails.filter((email) => EMAIL.test(email)).slice(0, MAX_EMAILS);
  const owners = await sql<{ email: string; user_id: string }>('select * from claim_aliases(?, ?, ?::text[])', [
    userId,
    host,
    textArray(claimed),
  ]);
  await sql('select link_identity(?, ?, ?, ?)', [userId, host, externalId, username]);
  return owners.filter((owner) => owner.user_id === userId).map(({ email }) => email);
}
