import { z } from 'zod';
import { ROLES } from '../../../domain/kernel/shared/actor.ts';
import { Email, JsonObject, NAME_MAX, queryInt, Timestamp, WITHOUT_CONTROLS } from '../../http/parameters.ts';

export const User = z
  .object({
    id: z.string(),
    firstName: z.string(),
    lastName: z.string(),
    email: z.string(),
    role: z.enum(ROLES).meta({ description: 'The highest of the user’s memberships' }),
    teams: z.array(z.string()).meta({ description: 'Slugs of the teams' }),
    isInvited: z.boolean().meta({
      description: 'The user has not accepted the invitation, and has no rights; `id` may change with the acceptance',
    }),
    authData: JsonObject.optional().meta({
      description: 'Authentication metadata: `hasPassword`, `aliases`, `identities`; only shown to the user',
    }),
  })
  .meta({ id: 'User' });

export const Me = User.extend({
  tenant: z.object({ id: z.uuid(), slug: z.string() }),
  tenants: z.array(z.string()).meta({
    description: 'Slugs of the tenants of which the caller is a member: signing in with `tenant` leads to another one',
  }),
  memberships: z.array(z.object({ team: z.string(), role: z.enum(ROLES) })).meta({ description: 'In this tenant' }),
  session: z
    .object({ aal: z.enum(['aal1', 'aal2']), expiresAt: Timestamp })
    .nullable()
    .meta({
      description:
        'Level of the sign-in (`aal2`: with a second factor), and when the session ends unless it is refreshed; null for an application token',
    }),
}).meta({ id: 'Me' });

export const UserPage = z.object({ items: z.array(User), total: z.int(), limit: z.int(), offset: z.int() });

const PersonName = z.string().trim().max(NAME_MAX).regex(WITHOUT_CONTROLS, 'must not contain control characters');
const UserEmail = Email.transform((email) => email.toLowerCase()).meta({
  override: ({ jsonSchema }) => Object.assign(jsonSchema, { type: 'string', format: 'email' }),
});
const TeamSlug = z.string().regex(/^[a-z0-9-]{1,40}$/, 'must be 1 to 40 lower-case letters, digits and dashes');

/** Hardly validated: a malformed e-mail simply matches nobody. */
export const emailParams = z.object({ email: z.string().max(254).includes('@') });
export const teamQuery = z.strictObject({ team: TeamSlug.optional() });

export const UsersQuery = z
  .strictObject({
    lookup: z.enum(['github', 'email']).optional().meta({ description: 'Find one user instead of a list' }),
    id: z
      .string()
      .min(1)
      .max(254)
      .optional()
      .meta({ description: 'With `lookup`: the username at host-a, or a primary e-mail or alias' }),
    team: TeamSlug.optional(),
    role: z.enum(ROLES).optional(),
    limit: queryInt(1, 200, 50),
    offset: queryInt(0, 1_000_000, 0),
  })
  .refine(({ lookup, id }) => (lookup === undefined) === (id === undefined), {
    path: ['id'],
    message: 'must be given together with lookup',
  });

export const UserIn = z.strictObject({
  email: UserEmail,
  team: TeamSlug.meta({ description: 'Created if it does not exist' }),
  firstName: PersonName.default(''),
  lastName: PersonName.default(''),
  role: z.enum(ROLES).default('member'),
});

export const AddedUser = z
  .object({
    success: z.literal(true),
    userId: z.uuid(),
    teamAccountId: z.uuid().meta({ description: 'Id of the membership in the team' }),
    firstName: z.string(),
    lastName: z.string(),
    email: z.string(),
    team: z.string(),
    role: z.enum(ROLES).meta({ description: 'Role in the team' }),
    isExistingUser: z
      .boolean()
      .meta({ description: 'Whether the user already belonged to this tenant, or was invited to it' }),
    inviteSent: z.boolean(),
    warnings: z.array(z.string()),
  })
  .meta({ id: 'AddedUser' });

export const UserRemoval = z.strictObject({ email: UserEmail, team: TeamSlug.optional() });

export const RemovedUser = z.object({
  success: z.literal(true),
  email: z.string(),
  team: z.string().nullable(),
  userId: z.uuid(),
  teamAccountId: z.uuid().nullable().meta({ description: 'Id of the membership that ended, if there was exactly one' }),
});

export const UserPatch = z
  .strictObject({
    firstName: PersonName,
    lastName: PersonName,
    role: z.enum(ROLES),
    teams: z.array(TeamSlug).min(1).max(100).meta({ description: 'Replaces the teams of the user' }),
  })
  .partial();

export const ChangedUser = z.object({ success: z.literal(true), user: User });

export const InviteResult = z.object({
  success: z.boolean(),
  email: z.string(),
  error: z.string().optional().meta({ description: 'Why no mail was sent' }),
});

export const Team = z
  .object({ id: z.uuid(), slug: z.string(), members: z.int(), createdAt: Timestamp })
  .meta({ id: 'Team' });
