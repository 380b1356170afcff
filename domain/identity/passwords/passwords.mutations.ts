import { sql } from 'kysely';
import { hashPassword, isPasswordRight } from '../../kernel/encryption/secrets.ts';
import type { SignInThrottle } from '../auth/sign-in-throttle.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import { DomainError, invalidField } from '../../kernel/shared/errors.ts';
import type { UnitOfWork } from '../../unit-of-work.ts';
import { weaknessOf } from './password-rules.ts';

let loading: Promise<ReadonlySet<string>> | undefined;
/** Passwords that many have. They take some megabytes, which processes in which nobody chooses one do without. */
const commonPasswords = () =>
  (loading ??= import('@zxcvbn-ts/language-common').then(({ dictionary }) => new Set(dictionary['passwords-common'])));

/**
 * The hash under which a chosen password is kept. Throws `invalid_request` for a weak one.
 * @param field of the request that held it.
 */
export async function hashChosenPassword(password: string, email: string, field: string): Promise<string> {
  const common = await commonPasswords();
  const weakness = weaknessOf(password, { isCommon: (text) => common.has(text), email });
  if (weakness !== undefined) {
    throw new DomainError('invalid_request', `The password ${weakness}`, {
      fields: [{ pointer: field, detail: weakness }],
    });
  }
  return hashPassword(password);
}

/** Sets a person's password; their sessions in all tenants end, but for the one that is kept. */
export async function setPassword(
  db: Database,
  userId: string,
  passwordHash: string,
  keptSessionId?: string,
): Promise<void> {
  await db.selectNoFrom(sql`set_password(${userId}, ${passwordHash}, ${keptSessionId ?? null})`.as('isSet')).execute();
}

interface PasswordChange {
  currentPassword: string;
  newPassword: string;
}

/**
 * Changes the password of the user who acts; all their sessions but the one that they act in end. Throws `forbidden`
 * for an application, `invalid_request` for a wrong or weak password, `rate_limited` after too many wrong ones.
 */
export async function changeOwnPassword(
  { actor, tx, throttle }: { actor: Actor; tx: UnitOfWork; throttle: SignInThrottle },
  { currentPassword, newPassword }: PasswordChange,
): Promise<void> {
  if (actor.type !== 'user') throw new DomainError('forbidden', 'Forbidden - An application token has no password');
  const isRight = await throttle.attempt('change of the password', actor.email, async () => {
    // Outside the unit of work: comparing hashes takes long, and would hold its connection.
    const own = await tx(({ db }) =>
      db.selectFrom('user_account').where('id', '=', actor.id).select('passwordHash').executeTakeFirst(),
    );
    const value = await isPasswordRight(own?.passwordHash, currentPassword);
    return { value, verdict: value ? 'right' : 'wrong' };
  });
  if (!isRight) throw invalidField('currentPassword', 'The current password is wrong');
  const passwordHash = await hashChosenPassword(newPassword, actor.email, 'newPassword');
  await tx(async (work) => {
    await setPassword(work.db, actor.id, passwordHash, actor.sessionId);
    work.audit({
      source: 'user',
      action: 'user.password_changed',
      entityType: 'user',
      entityId: actor.id,
      summary: `${actor.email} changed the password; other sessions ended`,
    });
  });
}
