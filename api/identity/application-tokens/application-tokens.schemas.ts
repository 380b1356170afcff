import { z } from 'zod';
import { Name, OverlapHours, RepositoryIdentifier, Timestamp } from '../../http/parameters.ts';

export const ApplicationTokenIn = z.strictObject({
  name: Name.regex(/^[\w.-]+$/, 'must consist of letters, digits, dots, dashes and underscores').max(100),
  expiresIn: z.int().min(1).max(365).default(30).meta({ description: 'Days' }),
  projects: z
    .array(RepositoryIdentifier)
    .max(100)
    .optional()
    .meta({ description: 'Limits the token to what belongs to these projects; default: the whole tenant' }),
});

export const TokenRotation = z
  .strictObject({
    expiresIn: z.int().min(1).max(365).default(30).meta({ description: 'Days' }),
    overlapHours: OverlapHours.meta({ description: 'Hours for which the previous token remains valid' }),
  })
  .prefault({});

const shown = {
  id: z.uuid(),
  name: z.string(),
  projects: z.array(z.string()).nullable(),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  lastUsedAt: Timestamp.nullable(),
  createdBy: z.string(),
};
export const ApplicationToken = z.object(shown).meta({ id: 'ApplicationToken' });
export const NewApplicationToken = z
  .object({ ...shown, token: z.string().meta({ description: 'Shown only in this reply' }) })
  .meta({ id: 'NewApplicationToken' });
