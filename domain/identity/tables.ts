import { ApplicationTokenSchema } from './application-tokens/application-tokens.entities.ts';
import {
  AuthSessionSchema,
  RefreshTokenSchema,
  KnownSignInSchema,
  SignInFailureSchema,
  UserRecoveryCodeSchema,
  UserTotpSchema,
} from './auth/auth.entities.ts';
import { InvitationSchema, InvitedMembershipSchema, InvitedUserSchema } from './invitations/invitations.entities.ts';
import {
  MembershipSchema,
  TeamSchema,
  TenantUserSchema,
  UserAccountSchema,
  UserAliasSchema,
  UserIdentitySchema,
  UserProfileSchema,
} from './users/users.entities.ts';
import type { TablesOf } from '../kernel/data/tables.ts';

/** The tables of the area. */
export const entities = [
  ApplicationTokenSchema,
  AuthSessionSchema,
  RefreshTokenSchema,
  KnownSignInSchema,
  SignInFailureSchema,
  UserRecoveryCodeSchema,
  UserTotpSchema,
  InvitationSchema,
  InvitedMembershipSchema,
  InvitedUserSchema,
  MembershipSchema,
  TeamSchema,
  TenantUserSchema,
  UserAccountSchema,
  UserAliasSchema,
  UserIdentitySchema,
  UserProfileSchema,
] as const;

declare module '../kernel/data/tables.ts' {
  interface Tables extends TablesOf<typeof entities> {}
}
