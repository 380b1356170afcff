import { defineEntity, p } from '@mikro-orm/core';
import type { Role } from '../../kernel/shared/actor.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';

/** Somebody who was added to a tenant and has not accepted, by the address that was given. Whose it is shows at acceptance. */
export const InvitedUserSchema = defineEntity({
  name: 'InvitedUser',
  tableName: 'invited_user',
  properties: {
    ...tenantOwned,
    email: p.text(),
    firstName: p.text().default(''),
    lastName: p.text().default(''),
    /** E-mail of who added them. */
    invitedBy: p.text(),
  },
});

/** A membership that somebody gets by accepting. */
export const InvitedMembershipSchema = defineEntity({
  name: 'InvitedMembership',
  tableName: 'invited_membership',
  properties: {
    ...tenantOwned,
    teamId: p.uuid(),
    /** The invited user. */
    userId: p.uuid(),
    role: p.text().$type<Role>(),
  },
});

/** A mailed link. */
export const InvitationSchema = defineEntity({
  name: 'Invitation',
  tableName: 'invitation',
  properties: {
    ...tenantOwned,
    /** The member who has no password yet; null for somebody who is invited. */
    userId: p.uuid().nullable(),
    /** The invited user; null once they accepted or were removed. */
    invitedUserId: p.uuid().nullable(),
    /** The address to which it was mailed. */
    email: p.text(),
    tokenHash: p.text().nullable(),
    expiresAt: p.datetime(3),
    usedAt: p.datetime(3).nullable(),
    invitedBy: p.text(),
  },
});
export class Invitation extends InvitationSchema.class {}
InvitationSchema.setClass(Invitation);
