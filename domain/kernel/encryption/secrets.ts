import { hash as digest, randomBytes, randomInt } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Without letters and digits that look alike. */
const UNAMBIGUOUS = 'abcdefghjkmnpqrstuvwxyz23456789';
export const APPLICATION_TOKEN_PREFIX = 'qs_app_';
const TOKEN_LENGTH = 43;

const randomText = (): string => Array.from({ length: TOKEN_LENGTH }, () => BASE62[randomInt(BASE62.length)]).join('');

/** `qs_app_` and 43 base62 characters: 256 bits. */
export const newApplicationToken = (): string => APPLICATION_TOKEN_PREFIX + randomText();

export const RUN_TOKEN_PREFIX = 'qs_run_';

/** For the command of a run: likewise. */
export const newRunToken = (): string => RUN_TOKEN_PREFIX + randomText();

export const newRefreshToken = (): string => `qs_ref_${randomBytes(32).toString('base64url')}`;

export const newSessionCookie = (): string => randomBytes(32).toString('base64url');

/** 80 bits, in groups that a person can copy: `k3mw-…`. */
export const newRecoveryCode = (): string =>
  Array.from({ length: 4 }, () =>
    Array.from({ length: 4 }, () => UNAMBIGUOUS[randomInt(UNAMBIGUOUS.length)]).join(''),
  ).join('-');

/** For the link of an invitation: 256 bits. */
export const newInvitationToken = (): string => randomBytes(32).toString('base64url');

export const newPassword = (): string => randomBytes(18).toString('base64url');

/** Long random secrets need no slow hash: hex SHA-256. */
export const hashSecret = (secret: string | Uint8Array): string => digest('sha256', secret);

/** argon2id with the parameters that OWASP's password storage cheat sheet gives (19 MiB, 2 passes, 1 lane). */
export const hashPassword = (password: string): Promise<string> =>
  hash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });

let decoy: Promise<string> | undefined;

/** Whether the password is right. Without a hash it takes as long and is false, so that timing does not reveal who has an account. */
export async function isPasswordRight(passwordHash: string | null | undefined, password: string): Promise<boolean> {
  decoy ??= hashPassword(newPassword());
  const isRight = await verify(passwordHash ?? (await decoy), password);
  return isRight && passwordHash != null;
}
