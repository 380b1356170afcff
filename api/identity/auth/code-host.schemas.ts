import { z } from 'zod';
import { SIGN_IN_HOSTS } from '../../../domain/identity/auth/code-host.port.ts';
import { AccessToken } from './auth.schemas.ts';

/** Must fit into an HTTP header; hosts do not keep to the b64token of RFC 6750. */
const ProviderToken = z.string().regex(/^[\x21-\x7e]{1,4096}$/, 'must be visible ASCII, at most 4096 characters');
const Provider = z.enum(SIGN_IN_HOSTS);

export const ResolveEmailsIn = z.strictObject({
  access_token: AccessToken,
  provider_token: ProviderToken.meta({
    description: 'OAuth token of the user at the git host, allowed to read e-mail addresses',
  }),
  provider: Provider.optional().meta({
    description: 'The host that issued the token; default: the first configured of host-a, host-b',
  }),
});

export const ResolveEmailsOut = z.object({ aliases: z.array(z.string()) });

export const RefreshProviderIn = z.strictObject({ provider: Provider, refresh_token: ProviderToken });

export const RefreshProviderOut = z.object({
  access_token: z.string(),
  expires_in: z.number(),
  refresh_token: z.string(),
  token_type: z.string(),
});
