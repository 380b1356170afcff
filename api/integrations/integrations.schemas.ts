import { z } from 'zod';
import { INTEGRATION_KINDS } from '../../domain/integrations/integration-rules.ts';
import { Name, NAME_MAX, RepositoryIdentifier, Timestamp } from '../http/parameters.ts';

/** No line breaks or other control characters, which would end a header. */
const Secret = z
  .string()
  .min(1)
  .max(16_000)
  .regex(/^[^\p{Cc}]+$/u, 'must not contain control characters');

const Credentials = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('token'), token: Secret, username: Name.optional() }),
    z.strictObject({ type: z.literal('basic'), username: Name, password: Secret }),
  ])
  .meta({ description: 'Encrypted when stored, and in no reply' });

const fields = {
  name: Name,
  baseUrl: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .max(2_000)
    .nullable()
    .meta({
      description:
        'Where the system is reached; null: at its public address. A change to another server needs the credentials again',
    }),
  settings: z
    .record(z.string().min(1).max(NAME_MAX), z.union([z.string().max(2_000), z.number(), z.boolean()]))
    .refine((settings) => Object.keys(settings).length <= 50, 'at most 50 members')
    .meta({
      description:
        'What the system needs beside credentials, such as a model or a workspace; nothing secret, as it is shown',
    }),
  isActive: z.boolean(),
};

export const IntegrationIn = z.strictObject({
  kind: z.enum(INTEGRATION_KINDS),
  repositoryIdentifier: RepositoryIdentifier.nullable()
    .default(null)
    .meta({ description: 'The only project that uses it; null: every project that has none of its own' }),
  name: fields.name,
  baseUrl: fields.baseUrl.default(null),
  settings: fields.settings.default({}),
  isActive: fields.isActive.default(true),
  credentials: Credentials,
});

export const IntegrationPatch = z
  .strictObject({
    ...fields,
    credentials: Credentials,
    version: z.int().positive().meta({ description: 'Refused with 409 when it is not the current one' }),
  })
  .partial();

export const Integration = z
  .object({
    id: z.uuid(),
    kind: z.enum(INTEGRATION_KINDS),
    repositoryIdentifier: z.string().nullable(),
    ...fields,
    credentialsUpdatedAt: Timestamp,
    version: z.int(),
    createdBy: z.string(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Integration' });
