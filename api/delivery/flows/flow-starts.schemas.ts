import { z } from 'zod';
import { JsonObject, Timestamp } from '../../http/parameters.ts';
import { warningsOf } from '../../http/warnings.ts';

/** What may execute a run. */
export const EXECUTORS = ['command', 'cicd', 'activity', 'children'] as const;

export const RunIn = z.strictObject({
  payload: JsonObject.meta({
    description: '`id` is the flow type; the other members depend on the type, see `GET /api/flows/types`',
  }),
});

export const RerunIn = z
  .strictObject({ payload: JsonObject.optional().meta({ description: 'Default: that of the run' }) })
  .optional();

export const DryRunOut = z
  .object({
    wouldStart: z.boolean().meta({ description: 'It would be accepted; it may wait at its gates then' }),
    refusal: z
      .object({ code: z.string(), detail: z.string() })
      .nullable()
      .meta({ description: 'Why it would be refused: `code` and `detail` of the problem' }),
    executor: z.enum(EXECUTORS).nullable().meta({ description: 'What would execute it' }),
    gates: z
      .object({
        approval: z
          .object({
            approvers: z
              .array(z.string())
              .meta({ description: 'E-mails and team slugs; none: the owners of the tenant' }),
            minApprovals: z.int(),
            expiresAt: Timestamp,
          })
          .nullable()
          .meta({ description: 'Null: it needs no approval' }),
        window: z
          .object({ isOpen: z.boolean(), nextWindowAt: Timestamp.nullable(), reason: z.string().nullable() })
          .nullable()
          .meta({
            description:
              'Windows, freezes, and what must be deployed before or for longer; null: the run asks for none of it',
          }),
        locks: z
          .array(
            z.object({
              environmentId: z.uuid(),
              environmentName: z.string(),
              heldBy: z.string().nullable(),
              waiting: z.int().meta({ description: 'How many wait for it' }),
            }),
          )
          .meta({ description: 'The locks that it takes, in this order' }),
      })
      .nullable()
      .meta({
        description:
          'What it would wait for, as everything is now; null where it would be refused, or where its child runs pass gates of their own',
      }),
    cannotDo: z.array(z.string()).meta({
      description: 'What a rollback that the service executes cannot take back, as far as its releases say it',
    }),
  })
  .meta({ id: 'FlowDryRun' });

/** Members of replies of accepted payloads. */
export const warnings = warningsOf(
  'unknown_commit',
  'unverified_branch',
  'package_of_other_domain',
  'unknown_approver',
  'too_few_approvers',
);

export const RunStarted = z
  .object({
    id: z.uuid(),
    taskType: z.string(),
    status: z.literal('started'),
    triggeredAt: Timestamp,
    ...warnings,
  })
  .meta({ id: 'FlowRunStarted' });
