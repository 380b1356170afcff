import { sql } from 'kysely';
import type { Database } from '../../kernel/data/tables.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { HostAccount, SignInHost } from './code-host.port.ts';

/** More than a person has; of a longer list the rest is dropped. */
const MAX_EMAILS = 100;
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,189}$/;

/**
 * Keeps what a host says of a person: the verified e-mails as aliases, and the account as the person's there. What
 * belongs to another person stays theirs. Answers those of the e-mails that name the person now.
 */
export async function saveHostAccount(
  db: Database,
  userId: string,
  host: SignInHost,
  { externalId, username, emails }: HostAccount,
): Promise<string[]> {
  const claimed = emails.filter((email) => EMAIL.test(email)).slice(0, MAX_EMAILS);
  const owners = await db
    .selectFrom(sql<{ email: string; userId: string }>`claim_aliases(${userId}, ${host}, ${claimed})`.as('a'))
    .select(['a.email', 'a.userId'])
    .execute();
  await db.selectNoFrom(sql`link_identity(${userId}, ${host}, ${externalId}, ${username})`.as('isLinked')).execute();
  return owners.filter((owner) => owner.userId === userId).map(({ email }) => email);
}

/** Saves the account of the member who acts, with an entry in the audit trail; answers the e-mails that are theirs now. */
export async function saveOwnHostAccount(tx: Tx, host: SignInHost, account: HostAccount): Promise<string[]> {
  const { id, email } = tx.actor;
  const aliases = await saveHostAccount(tx.db, id, host, account);
  tx.audit({
    source: 'user',
    action: 'user.aliases_resolved',
    entityType: 'user',
    entityId: id,
    summary: `${email} is known by ${aliases.length} of ${account.emails.length} verified e-mails of ${host}`,
    after: { host, username: account.username, aliases },
  });
  return aliases;
}
