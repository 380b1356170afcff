import { Secret, TOTP } from 'otpauth';
import type { Database } from '../../kernel/data/tables.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import type { Encryption } from '../../kernel/encryption/encryption.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import {
  confirmTotp,
  findTotp,
  offerTotp,
  removeTotp,
  spendRecoveryCode,
  spendTotpStep,
} from './second-factors.queries.ts';
import { hashSecret, newRecoveryCode } from '../../kernel/encryption/secrets.ts';

// Second factors by time-based one-time passwords (RFC 6238: SHA-1, six digits, 30 seconds, as all apps know them).

const ISSUER = 'Quayside';
const SECRET_BYTES = 20;
const STEP_SECONDS = 30;
/** A code of the step before or after the present one is accepted: clocks differ, and people type slowly. */
const WINDOW_STEPS = 1;
const RECOVERY_CODES = 10;
const TOTP_CODE = /^\d{6}$/;

/** The context under which a secret is encrypted: copied to another person's row it does not decrypt. */
export const totpContext = (userId: string): string => `user_totp:${userId}`;

interface GivenCode {
  userId: string;
  code: string;
  now: Date;
}

/** Throws `forbidden`: a second factor is a person's. */
function assertPerson({ type }: Actor): void {
  if (type !== 'user') throw new DomainError('forbidden', 'Forbidden - Only people have a second factor');
}

/** Whether a person's sign-in needs a code. */
export async function isSecondFactorNeeded(db: Database, userId: string): Promise<boolean> {
  return (await findTotp(db, userId))?.isConfirmed === true;
}

/** Accepts a code of the app, or a recovery code, once each. */
export async function spendSecondFactor(db: Database, encryption: Encryption, given: GivenCode): Promise<boolean> {
  const { userId } = given;
  const code = given.code.replaceAll(/\s/g, '').toLowerCase();
  const totp = await findTotp(db, userId);
  if (!totp?.isConfirmed) return false;
  if (TOTP_CODE.test(code)) return spendCode(db, encryption, { ...given, code }, totp.secret);
  return spendRecoveryCode(db, userId, hashSecret(code));
}

/** Spends the step that a code belongs to: of two requests with one code, the second is refused. */
async function spendCode(
  db: Database,
  encryption: Encryption,
  { userId, code, now }: GivenCode,
  encryptedSecret: string,
): Promise<boolean> {
  if (!TOTP_CODE.test(code)) return false;
  const totp = totpOf(encryption.decrypt(encryptedSecret, totpContext(userId)));
  const delta = totp.validate({ token: code, timestamp: now.getTime(), window: WINDOW_STEPS });
  if (delta === null) return false;
  return spendTotpStep(db, userId, Math.floor(now.getTime() / 1_000 / STEP_SECONDS) + delta);
}

/** Makes a secret, which counts from its confirmation on. Throws `already_exists` when one is confirmed. */
export async function offerSecondFactor(tx: Tx, encryption: Encryption): Promise<{ secret: string; uri: string }> {
  assertPerson(tx.actor);
  const { id, email } = tx.actor;
  const secret = new Secret({ size: SECRET_BYTES }).base32;
  if (!(await offerTotp(tx.db, id, encryption.encrypt(secret, totpContext(id)))))
    throw new DomainError('already_exists', 'A second factor is set up already; remove it first');
  note(tx, 'user.second_factor_offered', 'began to set up a second factor');
  return { secret, uri: totpOf(secret, email).toString() };
}

/** Confirms the offered secret by a code of it; answers the recovery codes, which are shown once. Throws `invalid_request`. */
export async function confirmSecondFactor(tx: Tx, encryption: Encryption, code: string): Promise<string[]> {
  const { actor, db, now } = tx;
  assertPerson(actor);
  const totp = await findTotp(db, actor.id);
  if (!totp || totp.isConfirmed)
    throw new DomainError('invalid_request', 'No second factor waits for its confirmation');
  if (!(await spendCode(db, encryption, { userId: actor.id, code, now }, totp.secret)))
    throw new DomainError('invalid_request', 'The code is wrong or was used before');
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  await confirmTotp(db, actor.id, codes.map(hashSecret));
  // Whoever has just given a code has given both factors.
  if (actor.sessionId !== undefined)
    await db.updateTable('auth_session').set({ aal: 'aal2' }).where('id', '=', actor.sessionId).execute();
  note(tx, 'user.second_factor_added', 'set up a second factor');
  return codes;
}

/** Removes it, if there is one; a confirmed one only in a session that was begun with it, else `forbidden`. */
export async function removeSecondFactor(tx: Tx): Promise<void> {
  const { actor, db } = tx;
  assertPerson(actor);
  const totp = await findTotp(db, actor.id);
  if (!totp) return;
  if (totp.isConfirmed && (await assuranceOf(tx)) !== 'aal2')
    throw new DomainError('forbidden', 'Only a session that was begun with the second factor can remove it');
  await removeTotp(db, actor.id);
  note(tx, 'user.second_factor_removed', 'removed the second factor');
}

async function assuranceOf({ actor: { sessionId }, db }: Tx): Promise<string | undefined> {
  if (sessionId === undefined) return undefined;
  const session = await db.selectFrom('auth_session').where('id', '=', sessionId).select('aal').executeTakeFirst();
  return session?.aal;
}

const note = (tx: Tx, action: string, what: string): void =>
  tx.audit({
    source: 'user',
    action,
    entityType: 'user',
    entityId: tx.actor.id,
    summary: `${tx.actor.email} ${what}`,
  });

const totpOf = (secret: string, label = ''): TOTP =>
  new TOTP({
    issuer: ISSUER,
    label,
    secret: Secret.fromBase32(secret),
    algorithm: 'SHA1',
    digits: 6,
    period: STEP_SECONDS,
  });
