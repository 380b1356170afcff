import { z } from 'zod';
import { ROLES } from '../../../domain/kernel/shared/actor.ts';
import { Email } from '../../http/parameters.ts';

export const TenantSlug = z.string().regex(/^[a-z0-9-]{1,40}$/);

export const LoginIn = z.strictObject({
  email: Email,
  password: z.string().min(1).max(1_024),
  tenant: TenantSlug.optional().meta({
    description:
      'Slug of the tenant to sign in to, whose invitation is accepted; default: the tenant that was named last, otherwise the one that was joined first',
  }),
  totp: z.string().min(1).max(24).optional().meta({ description: 'A second-factor code or a recovery code' }),
});

const RefreshToken = z.string().min(1).max(512);

export const RefreshIn = z.strictObject({ refresh_token: RefreshToken });

export const LogoutIn = z.strictObject({ refresh_token: RefreshToken.optional() }).optional();

/** Generous, because some providers list many groups in their tokens. */
const TOKEN_MAX = 16_000;
export const AccessToken = z
  .string()
  .min(1)
  .max(TOKEN_MAX)
  .meta({ description: 'An access token of this service or of the configured OpenID provider' });

export const CallbackIn = z.strictObject({
  access_token: AccessToken,
  refresh_token: z.string().min(1).max(TOKEN_MAX).optional().meta({
    description: 'With an access token of this service: an unused refresh token of the same session. Ignored otherwise',
  }),
  tenant: TenantSlug.optional().meta({
    description:
      'For tokens of the OpenID provider: slug of the tenant, whose invitation is accepted; default: the tenant that was named last, otherwise the one that was joined first',
  }),
});

export const CallbackOut = z.object({ success: z.literal(true), data: z.object({ userId: z.uuid() }) });

export const LoginOut = z
  .object({
    success: z.literal(true),
    access_token: z.string().meta({ description: 'JWT, valid for one hour' }),
    refresh_token: z.string().meta({ description: 'Valid for 30 days, can be used once' }),
    local_backend_url: z.string(),
    local_backend_anon_key: z.string().meta({ description: 'Publishable; grants no access by itself' }),
    aal: z.string(),
    user: z.object({ id: z.uuid(), email: z.string(), role: z.enum(ROLES) }),
  })
  .meta({ id: 'SignedIn' });
