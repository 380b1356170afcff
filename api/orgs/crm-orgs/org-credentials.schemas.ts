import { z } from 'zod';
import { AUTH_TYPES } from '../../../domain/orgs/crm-orgs/tokens/org-credentials.ts';
import { RepositoryIdentifier } from '../../http/parameters.ts';
import { OrgName, OrgNameInQuery, orgRecord, SandboxName, Username } from './crm-orgs.schemas.ts';

export const AuthTypeInQuery = z.enum(AUTH_TYPES).default('accessToken').meta({
  description:
    'Credentials to answer for owners and applications; members get the org alone. `accessToken`: minted within five minutes. `cliAuthUrl`: the long-lived auth URL. `jwt`: a token by JWT bearer, with the integration of kind `crm-app`',
});

const Credentials = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['accessToken', 'jwt']), accessToken: z.string(), instanceUrl: z.string() }),
  z.object({ type: z.literal('cliAuthUrl'), cliAuthUrl: z.string() }),
]);
export const OrgWithCredentials = z.object({ ...orgRecord, credentials: Credentials.optional() });

const Token = {
  accessToken: z.string(),
  instanceUrl: z.string(),
};
export const HandedToken = z
  .object({ ...Token, username: z.string(), orgId: z.string(), isDevHub: z.boolean() })
  .meta({ id: 'OrgAccessToken' });

export const TokenIn = z
  .strictObject({
    username: Username.optional().meta({
      description: 'A registered org, or a scratch org that a registered dev hub knows',
    }),
    sandboxName: SandboxName.optional(),
    repository: RepositoryIdentifier.optional().meta({ description: 'Ignored' }),
  })
  .refine(({ username, sandboxName }) => (username === undefined) !== (sandboxName === undefined), {
    message: 'exactly one of username and sandboxName must be given',
  });

export const ProjectIdentifier = RepositoryIdentifier.optional().meta({
  description: 'The first registered one of the `devHubs` of this project; without one, the default of the tenant',
});

export const FrontDoorQuery = z.strictObject({
  target: OrgNameInQuery,
  redirect: z
    .enum(['true', 'false'])
    .default('true')
    .transform((value) => value === 'true'),
  prodOrg: OrgName.optional().meta({
    description: 'Production org of the sandbox, by its username or by `alias` of its metadata',
  }),
  path: z.string().min(1).max(2_000).optional().meta({
    description: 'Where the session begins: a path within the org',
    example: '/lightning/setup/SetupOneHome/home',
  }),
  repository: RepositoryIdentifier.optional().meta({ description: 'Ignored' }),
});
export const FrontDoorOut = z.object({
  url: z.string().meta({ description: 'Opens a session of the org, once: a secret' }),
});

const Parent = z.object({ username: z.string(), orgId: z.string(), instanceUrl: z.string() });

export const SandboxAuthIn = z.strictObject({ sandboxName: SandboxName, productionUsername: Username.optional() });
export const SandboxAuthOut = z.object({
  sandboxName: z.string(),
  sandboxUsername: z.string(),
  ...Token,
  frontDoorUrl: z.string(),
  productionOrg: z
    .object({ username: z.string().nullable(), orgId: z.string().nullable(), instanceUrl: z.string().nullable() })
    .meta({
      description:
        'Production org of a registered sandbox; its members are null where that is not registered, or not seen by the token',
    }),
});

export const ScratchAuthIn = z.strictObject({
  scratchOrgUsername: Username,
  productionUsername: Username.optional().meta({ description: 'The dev hub; default: every registered one is asked' }),
});
export const ScratchAuthOut = z.object({
  scratchOrgUsername: z.string(),
  ...Token,
  frontDoorUrl: z.string(),
  cliAuthUrl: z.string(),
  orgId: z.string(),
  devhubOrg: Parent,
});
