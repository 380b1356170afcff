import { defineEntity, p } from '@mikro-orm/core';
import { tenantOwned } from '../data/tenant-owned.ts';

export const AuthSessionSchema = defineEntity({
  name: 'AuthSession',
  tableName: 'auth_session',
  properties: {
    ...tenantOwned,
    userId: p.uuid(),
    aal: p.text().default('aal1'),
    expiresAt: p.datetime(3),
    revokedAt: p.datetime(3).nullable(),
    cookieHash: p.text().nullable(),
    begunFrom: p.uuid().nullable(),
  },
});
export class AuthSession extends AuthSessionSchema.class {}
AuthSessionSchema.setClass(AuthSession);

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
    points: p.integer().default(0),
    expire: p.bigint('string').nullable(),
  },
});
export class SignInFailure extends SignInFailureSchema.class {}
SignInFailureSchema.setClass(SignInFailure);

export const UserRecoveryCodeSchema = defineEntity({
  name: 'UserRecoveryCode',
  tableName: 'user_recovery_code',
  properties: {
    userId: p.uuid().primary(),
    codeHash: p.text().primary(),
  },
});
export class UserRecoveryCode extends UserRecoveryCodeSchema.class {}
UserRecoveryCodeSchema.setClass(UserRecoveryCode);

export const UserTotpSchema = defineEntity({
  name: 'UserTotp',
  tableName: 'user_totp',
  properties: {
    userId: p.uuid().primary(),
    secret: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    confirmedAt: p.datetime(3).nullable(),
    lastStep: p.bigint('string').defaultRaw('0'),
  },
});
export class UserTotp extends UserTotpSchema.class {}
UserTotpSchema.setClass(UserTotp);
