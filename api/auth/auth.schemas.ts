import { z } from 'zod';
import { ROLES } from '../../domain/shared/actor.ts';

export const LoginIn = z.strictObject({
  email: z.email().max(254),
  password: z.string().min(1).max(1_024),
  tenant: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/)
    .optional()
    .meta({ description: 'Slug of the tenant to sign in to; the one of the oldest membership when absent' }),
});

export const RefreshIn = z.strictObject({ refresh_token: z.string().min(1).max(512) });

export const LoginOut = z
  .object({
    success: z.literal(true),
    access_token: z.string().meta({ description: 'JWT, valid for one hour' }),
    refresh_token: z.string().meta({ description: 'Valid for 30 days and for one use' }),
    local_backend_url: z.string(),
    local_backend_anon_key: z.string().meta({ description: 'Publishable; opens nothing by itself' }),
    aal: z.string(),
    user: z.object({ id: z.uuid(), email: z.string(), role: z.enum(ROLES) }),
  })
  .meta({ id: 'SignedIn' });
