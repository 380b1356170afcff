import { z } from 'zod';
import { ERROR_CODES, type ProblemMembers, type RESERVED_MEMBERS } from '../../../domain/kernel/shared/errors.ts';
import { Timestamp } from '../parameters.ts';

const FieldError = z
  .object({
    detail: z.string(),
    pointer: z.string().meta({ description: 'JSON pointer into the request: `#/body/config/url`, `#/query/limit`' }),
  })
  .meta({ id: 'FieldError' });

const RefusedDocument = z
  .looseObject({
    collection: z.string(),
    key: z.string(),
    status: z.int().meta({ description: 'The status that the write would get on its own' }),
    error: z.looseObject({ code: z.string(), detail: z.string() }),
  })
  .meta({ id: 'RefusedDocument' });

const AmbiguousOrg = z
  .object({
    username: z.string().nullable(),
    sandboxName: z.string().nullable(),
    productionUsername: z.string().nullable(),
  })
  .meta({ id: 'AmbiguousOrg' });

const NearestStep = z
  .looseObject({
    seq: z.int(),
    criteria: z.array(
      z.looseObject({
        criterion: z.string(),
        matches: z.boolean(),
        wanted: z.unknown().optional(),
        found: z.unknown().optional(),
      }),
    ),
  })
  .meta({ id: 'NearestStep' });

/** What every problem body has. */
const always = {
  type: z.string().meta({ example: 'urn:quayside:problem:not_found' }),
  title: z.string(),
  status: z.int().meta({ description: 'The HTTP status' }),
  detail: z.string(),
  instance: z.string().meta({ description: 'Path of the request' }),
  code: z.enum(ERROR_CODES),
  requestId: z.string(),
  errors: z
    .array(FieldError)
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
  results: z.array(RefusedDocument).optional().meta({ description: 'Documents of a batch that were refused' }),
  tenants: z.array(z.string()).optional().meta({ description: 'With `ambiguous`: the tenants to choose from' }),
  candidates: z.array(AmbiguousOrg).optional().meta({ description: 'With `ambiguous`: the orgs of that name' }),
  secondFactor: z.literal('totp').optional(),
  nextWindowAt: Timestamp.nullable().optional().meta({
    description: 'When the environment takes the deployment; null: that is not known',
  }),
  hold: z
    .object({
      source: z.enum(['person', 'verification']),
      reason: z.string(),
      until: Timestamp.nullable(),
      environmentName: z.string().nullable(),
    })
    .optional()
    .meta({ description: 'With `held`: what holds the release candidate' }),
  copyStatus: z.string().optional().meta({ description: 'How far a sandbox has been copied, as the platform says it' }),
  copyProgress: z.number().optional().meta({ description: 'In per cent' }),
  hint: z.string().optional().meta({ description: 'What a person can do about it' }),
  platformCode: z.string().nullable().optional().meta({
    description: 'The code of the platform (an open set), or `HTTP_503`; null: there was no answer',
  }),
  scenario: z.string().optional().meta({ description: 'The mock scenario that is in the way, or that was asked' }),
  scenarioStatus: z.string().optional(),
  nearest: z.array(NearestStep).nullable().optional().meta({
    description: 'The steps that come nearest to the call; null: there were too many to look at',
  }),
} satisfies Record<keyof ProblemMembers, z.ZodType>;

/** The members with a schema of the reference each: `Problem` and the member's name. */
const named = (members: Record<string, z.ZodType>): Record<string, z.ZodType> =>
  Object.fromEntries(
    Object.entries(members).map(([member, schema]) => {
      const id = `Problem${member.charAt(0).toUpperCase()}${member.slice(1)}`;
      const description = schema.description;
      if (!(schema instanceof z.ZodOptional)) return [member, schema.meta({ ...schema.meta(), id })];
      return [member, (schema.unwrap() as z.ZodType).meta({ id, ...(description && { description }) }).optional()];
    }),
  );

/** What an example of the reference has, whose members are named by the schema. */
export type ProblemExample = z.input<z.ZodObject<typeof always>>;

export const Problem = z
  .looseObject(named({ ...always, ...further }))
  .meta({ id: 'Problem', description: 'Problem details (RFC 9457)' });
