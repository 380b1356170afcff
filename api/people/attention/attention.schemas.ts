import { z } from 'zod';
import { ATTENTION_KINDS } from '../../../domain/kernel/attention/attention-rules.ts';
import { FOUND_MAX, readAttentionId } from '../../../domain/people/attention/attention.queries.ts';
import { FreeText, queryFlag, queryInt, queryList, RepositoryIdentifier } from '../../http/parameters.ts';

const Kind = z.enum(ATTENTION_KINDS);

export const AttentionQuery = z.strictObject({
  kinds: queryList(Kind, ATTENTION_KINDS.length).meta({
    description: 'Absent: all kinds',
    items: { type: 'string', enum: [...ATTENTION_KINDS] },
  }),
  repositoryIdentifier: RepositoryIdentifier.optional(),
  includeAcknowledged: queryFlag(false),
  limit: queryInt(1, 100, 50),
  offset: queryInt(0, ATTENTION_KINDS.length * FOUND_MAX, 0),
});

/** As `readAttentionId` reads it. */
export const byAttentionId = z.object({
  id: z
    .string()
    .max(100)
    .refine((id) => readAttentionId(id) !== undefined, 'not an id')
    .meta({ description: '`<kind>:<id>`', example: 'run_failed:0195a3c1-7b1e-7c40-9d3e-5f1c2a9b8e10' }),
});

export const AcknowledgementIn = z.strictObject({ comment: FreeText.optional() }).optional();

export const AttentionItem = z
  .object({
    id: z.string().meta({ description: 'The same as long as it stands' }),
    kind: Kind,
    title: z.string(),
    reason: z.string(),
    since: z.iso.datetime(),
    repositoryIdentifier: z.string().nullable(),
    action: z.object({
      operation: z.string().meta({ description: 'Id of the operation in this reference' }),
      method: z.string(),
      path: z.string(),
      isAllowed: z.boolean().meta({ description: 'Whether the role of the caller may do it' }),
    }),
    acknowledged: z
      .object({ by: z.string(), at: z.iso.datetime(), comment: z.string().nullable() })
      .nullable()
      .meta({ description: 'Who has seen it for the tenant, as it is now' }),
  })
  .meta({ id: 'AttentionItem' });

export const AttentionPage = z.object({
  items: z.array(AttentionItem),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
  incompleteKinds: z
    .array(Kind)
    .meta({ description: `Kinds of which there may be more than the ${FOUND_MAX} looked at` }),
});
