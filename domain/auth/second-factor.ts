import type { MikroORM } from '@mikro-orm/postgresql';
import { Secret, TOTP } from 'otpauth';
import type { Encryption } from '../shared/encryption.ts';
import { DomainError } from '../shared/errors.ts';
import { textArray } from '../shared/text-array.ts';
import type { Tx } from '../unit-of-work.ts';
import { hashSecret, newRecoveryCode } from './secrets.ts';

const ISSUER = 'Quayside';
const SECRET_BYTES = 20;
const STEP_SECONDS = 30;
/** A code of the step before or after the present one is taken: clocks differ, and people type slowly. */
const WINDOW_STEPS = 1;
const RECOVERY_CODES = 10;
const TOTP_CODE = /^\d{6}$/;

/** What the second factor is stored under; a secret copied to another person's row does not decrypt. */
export const totpContext = (userId: string): string => `user_totp:${userId}`;

/** Second factors by time-based one-time passwords (RFC 6238: SHA-1, six digits, 30 seconds, as all apps know them). */
export interface SecondFactors {
  /** Whether a person's sign-in needs a code. */
  isNeeded(userId: string): Promise<boolean>;
  /** Takes a code of the app, or a recovery code; each is good once. */
  spend(userId: string, code: string, now: Date): Promise<boolean>;
  /** A new secret, which counts from its confirmation on. Throws `already_exists` when one is confirmed. */
  offer(tx: Tx): Promise<{ secret: string; uri: string }>;
  /** Confirms the offered secret by a code of it; answers the recovery codes, which are shown once. Throws `invalid_request`. */
  confirm(tx: Tx, code: string): Promise<string[]>;
  /** Removes it, if there is one; a confirmed one only in a session that was begun with it, else `forbidden`. */
  remove(tx: Tx): Promise<void>;
}

export function createSecondFactors(orm: MikroORM, encryption: Encryption): SecondFactors {
  type Run = <Row>(statement: string, parameters: unknown[]) => Promise<Row[]>;
  const query: Run = (statement, parameters) => orm.em.getConnection().execute(statement, parameters) as never;
  const ask = async (run: Run, call: string, parameters: unknown[]): Promise<boolean> => {
    const [row] = await run<{ answer: boolean }>(`select ${call} as answer`, parameters);
    return row?.answer === true;
  };
  const find = async (run: Run, userId: string) =>
    (await run<{ secret: string; is_confirmed: boolean }>('select * from auth_totp(?)', [userId]))[0];
  /** Spends the step that a code belongs to: of two that come at once, one is late. */
  const spendCode = async (run: Run, userId: string, stored: string, code: string, now: Date): Promise<boolean> => {
    if (!TOTP_CODE.test(code)) return false;
    const totp = totpOf(encryption.decrypt(stored, totpContext(userId)));
    const delta = totp.validate({ token: code, timestamp: now.getTime(), window: WINDOW_STEPS });
    if (delta === null) return false;
    return ask(run, 'auth_totp_spend(?, ?)', [userId, Math.floor(now.getTime() / 1_000 / STEP_SECONDS) + delta]);
  };

  return {
    isNeeded: async (userId) => (await find(query, userId))?.is_confirmed === true,

    async spend(userId, given, now) {
      const code = given.replaceAll(/\s/g, '').toLowerCase();
      const factor = await find(query, userId);
      if (!factor?.is_confirmed) return false;
      if (TOTP_CODE.test(code)) return spendCode(query, userId, factor.secret, code, now);
      return ask(query, 'auth_recovery_code_spend(?, ?)', [userId, hashSecret(code)]);
    },

    async offer({ actor, sql, audit }) {
      const secret = new Secret({ size: SECRET_BYTES }).base32;
      const isOffered = await ask(sql, 'auth_totp_offer(?, ?)', [
        actor.id,
        encryption.encrypt(secret, totpContext(actor.id)),
      ]);
      if (!isOffered) throw new DomainError('already_exists', 'A second factor is set up already; remove it first');
      audit({
        source: 'user',
        action: 'user.second_factor_offered',
        entityType: 'user',
        entityId: actor.id,
        summary: `${actor.email} began to set up a second factor`,
      });
      return { secret, uri: totpOf(secret, actor.email).toString() };
    },

    async confirm({ actor, sql, now, audit }, code) {
      const factor = await find(sql, actor.id);
      if (!factor || factor.is_confirmed)
        throw new DomainError('invalid_request', 'No second factor waits for its confirmation');
      if (!(await spendCode(sql, actor.id, factor.secret, code, now))) {
        throw new DomainError('invalid_request', 'The code is wrong or was used before');
      }
      const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
      await ask(sql, 'auth_totp_confirm(?, ?::text[])', [actor.id, textArray(codes.map(hashSecret))]);
      // Whoever has just given a code has given both factors.
      await sql(`update auth_session set aal = 'aal2' where id = ?`, [actor.sessionId ?? null]);
      audit({
        source: 'user',
        action: 'user.second_factor_added',
        entityType: 'user',
        entityId: actor.id,
        summary: `${actor.email} set up a second factor`,
      });
      return codes;
    },

    async remove({ actor, sql, audit }) {
      const factor = await find(sql, actor.id);
      if (!factor) return;
      const [session] = await sql<{ aal: string }>('select aal from auth_session where id = ?', [
        actor.sessionId ?? null,
      ]);
      if (factor.is_confirmed && session?.aal !== 'aal2')
        throw new DomainError('forbidden', 'Only a session that was begun with the second factor can remove it');
      await ask(sql, 'auth_totp_remove(?)', [actor.id]);
      audit({
        source: 'user',
        action: 'user.second_factor_removed',
        entityType: 'user',
        entityId: actor.id,
        summary: `${actor.email} removed the second factor`,
      });
    },
  };
}

const totpOf = (secret: string, label = ''): TOTP =>
  new TOTP({
    issuer: ISSUER,
    label,
    secret: Secret.fromBase32(secret),
    algorithm: 'SHA1',
    digits: 6,
    period: STEP_SECONDS,
  });
