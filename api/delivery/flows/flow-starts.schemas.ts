import { z } from 'zod';
import { JsonObject, Timestamp } from '../../http/parameters.ts';
import { warningsOf } from '../../http/warnings.ts';
import { HoldMember } from '../holds.ts';

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

const LockToCome = z.object({
  environmentId: z.uuid(),
  environmentName: z.string(),
  heldBy: z.string().nullable(),
  position: z.int().meta({ description: 'In the queue: 0 has the lock at once, 1 is the next' }),
  estimatedWaitSeconds: z.int().nullable().meta({ description: 'Null: no hold of the lock has ended yet' }),
});

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
            expiresAfter: z.string().meta({ description: 'Duration (ISO 8601)', example: 'P7D' }),
            expiresAt: Timestamp.meta({ description: 'Were it asked for now' }),
          })
          .nullable()
          .meta({ description: 'Null: it needs no approval' }),
        after: z
          .object({
            missing: z
              .array(z.string())
              .meta({ description: 'Environments to which it must still be deployed, or again' }),
            reason: z.string().nullable().meta({ description: 'Null: that is met' }),
          })
          .nullable()
          .meta({
            description:
              'What must come before (`promotion.after`, `requireVerified`); null: nothing, or an override passes it',
          }),
        soak: z.object({ endsAt: Timestamp.nullable() }).nullable().meta({
          description:
            'For how long (`soakMinutes`); `endsAt` is null when it is over, or begins only once `after` is met. Null: for no time, or an override passes it',
        }),
        window: z
          .object({ isOpen: z.boolean(), nextWindowAt: Timestamp.nullable(), reason: z.string().nullable() })
          .nullable()
          .meta({ description: 'Windows and freezes; null: the run obeys none, or an override passes them' }),
        lock: LockToCome.nullable().meta({
          description: 'The lock for which it would wait the longest; null: it takes none',
        }),
        locks: z.array(LockToCome).meta({ description: 'All locks that it takes, in this order' }),
      })
      .nullable()
      .meta({
        description:
          'What it would wait for, as everything is now, also where it would be refused; null where nothing would execute it, or its child runs pass gates of their own',
      }),
    hold: HoldMember.nullable().meta({ description: 'What holds its release back; null: nothing' }),
    changes: z.object({ packages: z.int(), commits: z.int(), workItems: z.int() }).nullable().meta({
      description:
        'How much the release changes in its environment against what runs there now, the one of several in which that is the most; null: it takes no release there',
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
