import { z } from 'zod';
import { TenantSlug } from './auth.schemas.ts';

export const ContinueQuery = z.strictObject({
  action: z.literal('frontDoorUrl'),
  params: z.string().min(1).max(1_000).meta({
    description: 'Comma-separated `name:value` pairs: `targetOrg`, optionally `repository` and `prodOrg`',
    example: 'targetOrg:dev1@acme.example,repository:acme/shop',
  }),
});

const Next = z.string().max(2_000).meta({ description: 'A path of this service', example: '/docs' });

export const NextQuery = z.strictObject({ next: Next.optional(), tenant: TenantSlug.optional() });

/** Lenient, because a person gets the form again instead of a list of violations. */
export const FormIn = z.object({
  next: Next.optional(),
  email: z.string().max(254).default(''),
  password: z.string().max(1_024).default(''),
  tenant: z.string().max(40).default(''),
  ticket: z
    .string()
    .max(4_096)
    .optional()
    .meta({ description: 'Second step only: proves that the password was right' }),
  code: z.string().max(24).default(''),
});

/** Providers add different parameters; the adapter reads the whole query. */
export const ReturnQuery = z.looseObject({
  state: z.string().max(512).optional(),
  code: z.string().max(4_096).optional(),
});
