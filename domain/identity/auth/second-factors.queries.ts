import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../kernel/data/tables.ts';

// No role of the application reads these tables: it asks functions of the database, about one person at a time.

const answerOf = async (db: Database, call: RawBuilder<boolean>): Promise<boolean> =>
  (await db.selectNoFrom(call.as('answer')).executeTakeFirst())?.answer === true;

/** A person's encrypted secret, and whether it was confirmed by a code; undefined when none was offered. */
export const findTotp = (db: Database, userId: string) =>
  db
    .selectFrom(sql<{ secret: string; isConfirmed: boolean }>`auth_totp(${userId})`.as('t'))
    .select(['t.secret', 't.isConfirmed'])
    .executeTakeFirst();

/** Keeps an encrypted secret until it is confirmed; false when one is confirmed already. */
export const offerTotp = (db: Database, userId: string, secret: string): Promise<boolean> =>
  answerOf(db, sql`auth_totp_offer(${userId}, ${secret})`);

/** Spends a step of time (RFC 6238's T); false when it, or a later one, was spent before. */
export const spendTotpStep = (db: Database, userId: string, step: number): Promise<boolean> =>
  answerOf(db, sql`auth_totp_spend(${userId}, ${step})`);

/** Confirms the secret and keeps the hashes of its recovery codes. */
export const confirmTotp = (db: Database, userId: string, recoveryCodeHashes: string[]): Promise<boolean> =>
  answerOf(db, sql`auth_totp_confirm(${userId}, ${recoveryCodeHashes})`);

/** Spends a recovery code; false when there is none of that hash. */
export const spendRecoveryCode = (db: Database, userId: string, hash: string): Promise<boolean> =>
  answerOf(db, sql`auth_recovery_code_spend(${userId}, ${hash})`);

export const removeTotp = (db: Database, userId: string): Promise<boolean> =>
  answerOf(db, sql`auth_totp_remove(${userId})`);
