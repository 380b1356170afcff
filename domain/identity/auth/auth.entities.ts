import { defineEntity, p } from '@mikro-orm/core';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { AssuranceLevel } from './access-tokens.ts';

export const AuthSessionSchema = defineEntity({
  name: 'AuthSession',
  tableName: 'auth_session',
  properties: {
    ...tenantOwned,
    userId: p.uuid(),
    aal: p.text().$type<AssuranceLevel>().default('aal1'),
    expiresAt: p.datetime(3),
    revokedAt: p.datetime(3).nullable(),
    /** SHA-256 of the secret in a browser's cookie; null for a session that is kept by refresh tokens. */
    cookieHash: p.text().nullable(),
    /** The session with which this one ends. */
    begunFrom: p.uuid().nullable(),
  },
});

export const RefreshTokenSchema = defineEntity({
  name: 'RefreshToken',
  tableName: 'refresh_token',
  properties: {
    tokenHash: p.text().primary(),
    tenantId: p.uuid(),
    sessionId: p.uuid(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    spentAt: p.datetime(3).nullable(),
  },
});
export class RefreshToken extends RefreshTokenSchema.class {}
RefreshTokenSchema.setClass(RefreshToken);

export const SignInFailureSchema = defineEntity({
  name: 'SignInFailure',
  tableName: 'sign_in_failure',
  properties: {
    key: p.text().primary(),
    /** Failures counted until `expire`. */
    points: p.integer().default(0),
    /** Milliseconds since 1970. */
    expire: p.bigint('string').nullable(),
  },
});

export const KnownSignInSchema = defineEntity({
  name: 'KnownSignIn',
  tableName: 'known_sign_in',
  properties: {
    /** Hash of an address and an e-mail that have signed in. */
    key: p.text().primary(),
    expiresAt: p.datetime(3),
  },
});

export const UserRecoveryCodeSchema = defineEntity({
  name: 'UserRecoveryCode',
  tableName: 'user_recovery_code',
  properties: {
    userId: p.uuid().primary(),
    codeHash: p.text().primary(),
  },
});

export const UserTotpSchema = defineEntity({
  name: 'UserTotp',
  tableName: 'user_totp',
  properties: {
    userId: p.uuid().primary(),
    /** Encrypted. */
    secret: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    confirmedAt: p.datetime(3).nullable(),
    /** The step of time (RFC 6238) of the last code that was accepted. */
    lastStep: p.bigint('string').defaultRaw('0'),
  },
});
