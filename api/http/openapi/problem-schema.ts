import { z } from 'zod';
import type { ProblemMembers, RESERVED_MEMBERS } from '../../../domain/kernel/shared/errors.ts';
import { Timestamp } from '../parameters.ts';

/** What every problem body has. */
const always = {
  type: z.string().meta({ example: 'urn:quayside:problem:not_found' }),
  title: z.string(),
  status: z.int().meta({ description: 'The HTTP status' }),
  detail: z.string(),
  instance: z.string().meta({ description: 'Path of the request' }),
  code: z.string(),
  requestId: z.string(),
  errors: z
    .array(z.object({ detail: z.string(), pointer: z.string() }))
    .optional()
    .meta({ description: 'The first ten invalid fields, with JSON pointers into the request' }),
  moreErrors: z.int().optional().meta({ description: 'How many more fields are invalid; at most 990 are counted' }),
} satisfies Record<(typeof RESERVED_MEMBERS)[number], z.ZodType>;

/** What some have; one for each member that an error may give. */
const further = {
  success: z.literal(false).optional().meta({ description: 'For routes whose replies have it' }),
  error: z.string().optional().meta({ description: 'The detail once more, for routes whose replies have it' }),
  providerDetails: z.object({ queued: z.boolean(), notFound: z.boolean() }).optional(),
  currentVersion: z
    .int()
    .nullable()
    .optional()
    .meta({ description: 'Current version, with `version_conflict` and `precondition_failed`; null: there is none' }),
  results: z.array(z.looseObject({})).optional().meta({ description: 'Documents of a batch that were refused' }),
  tenants: z.array(z.string()).optional().meta({ description: 'With `ambiguous`: the tenants to choose from' }),
  candidates: z
    .array(
      z.object({
        username: z.string().nullable(),
        sandboxName: z.string().nullable(),
        productionUsername: z.string().nullable(),
      }),
    )
    .optional()
    .meta({ description: 'With `ambiguous`: the orgs of that name' }),
  secondFactor: z.literal('totp').optional(),
  nextWindowAt: Timestamp.nullable().optional().meta({
    description: 'When the environment takes the deployment; null: that is not known',
  }),
  copyStatus: z.string().optional().meta({ description: 'How far a sandbox has been copied, as the platform says it' }),
  copyProgress: z.number().optional().meta({ description: 'In per cent' }),
  hint: z.string().optional().meta({ description: 'What a person can do about it' }),
  platformCode: z.string().nullable().optional().meta({
    description: 'The code of the platform (an open set), or `HTTP_503`; null: there was no answer',
  }),
  scenario: z.string().optional().meta({ description: 'The mock scenario that is in the way, or that was asked' }),
  scenarioStatus: z.string().optional(),
  nearest: z.unknown().optional().meta({
    description: 'The steps that come nearest to the call; null: there were too many to look at',
  }),
} satisfies Record<keyof ProblemMembers, z.ZodType>;

export const Problem = z
  .looseObject({ ...always, ...further })
  .meta({ id: 'Problem', description: 'Problem details (RFC 9457)' });
