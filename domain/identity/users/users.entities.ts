import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { Role } from '../../kernel/shared/actor.ts';

export const MembershipSchema = defineEntity({
  name: 'Membership',
  tableName: 'membership',
  properties: {
    ...tenantOwned,
    teamId: p.uuid(),
    userId: p.uuid(),
    role: p.text().$type<Role>(),
  },
});

/** A person in a tenant, from the acceptance of the invitation until the last membership ends. */
export const TenantUserSchema = defineEntity({
  name: 'TenantUser',
  tableName: 'tenant_user',
  properties: {
    tenantId: p.uuid().primary(),
    userId: p.uuid().primary(),
    acceptedAt: p.datetime(3).defaultRaw('now()'),
    /** When the person last named this tenant at a sign-in. */
    chosenAt: p.datetime(3).nullable(),
  },
});

export const TeamSchema = defineEntity({
  name: 'Team',
  tableName: 'team',
  properties: {
    ...tenantOwned,
    slug: p.text(),
  },
});
export class Team extends TeamSchema.class {}
TeamSchema.setClass(Team);

export const UserAccountSchema = defineEntity({
  name: 'UserAccount',
  tableName: 'user_account',
  properties: {
    id: p.uuid().primary(),
    email: p.text(),
    passwordHash: p.text().nullable(),
    authData: jsonColumn<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const UserAliasSchema = defineEntity({
  name: 'UserAlias',
  tableName: 'user_alias',
  properties: {
    email: p.text().primary(),
    userId: p.uuid(),
    provider: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const UserIdentitySchema = defineEntity({
  name: 'UserIdentity',
  tableName: 'user_identity',
  properties: {
    provider: p.text().primary(),
    externalId: p.text().primary(),
    username: p.text(),
    userId: p.uuid(),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const UserProfileSchema = defineEntity({
  name: 'UserProfile',
  tableName: 'user_profile',
  properties: {
    tenantId: p.uuid().primary(),
    userId: p.uuid().primary(),
    firstName: p.text().default(''),
    lastName: p.text().default(''),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});
