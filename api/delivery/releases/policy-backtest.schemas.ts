import { z } from 'zod';
import { DateTime, Name, Timestamp } from '../../http/parameters.ts';
import { ApprovalPolicy, PromotionPolicy } from '../../projects/environments/environments.schemas.ts';

export const BacktestIn = z.strictObject({
  promotion: PromotionPolicy.optional().meta({ description: 'Absent: what each environment has now' }),
  approvalPolicy: ApprovalPolicy.optional().meta({ description: 'Absent: nothing about approvals changes' }),
  environments: z
    .array(Name)
    .min(1)
    .max(50)
    .optional()
    .meta({ description: 'Names; default: the active environments of category `release`' }),
  from: DateTime.meta({ description: 'Inclusive' }),
  to: DateTime.meta({ description: 'Exclusive' }),
});

const affected = {
  releaseName: z.string(),
  domain: z.string(),
  deployedAt: Timestamp,
  reason: z.string(),
};

export const Backtest = z
  .object({
    environments: z.array(
      z.object({
        environment: z.string(),
        deployments: z.int().meta({ description: 'Deployments that were looked at: all but cancelled ones' }),
        refused: z
          .array(z.object(affected))
          .meta({ description: 'The newest 500 that would not have gone, oldest first' }),
        refusedTotal: z.int(),
        waited: z
          .array(
            z.object({
              ...affected,
              waitSeconds: z.int().nullable(),
              until: Timestamp.nullable().meta({
                description: 'Null: until the release is deployed again where it was replaced while it soaked',
              }),
            }),
          )
          .meta({ description: 'The newest 500 that would have gone later, oldest first' }),
        waitedTotal: z.int(),
        approvalSeconds: z.int().nullable().meta({
          description:
            'What an approval costs: the median time in which those of the environment were given. Null: none is asked for by `approvalPolicy`, or none was given there yet',
        }),
        leadTimeSeconds: z.object({ before: z.int().nullable(), after: z.int().nullable() }).meta({
          description:
            'Medians over the successful deployments that would have gone, from the commit of the release candidate (while that is not mirrored, from the creation of the candidate) to the deployment. `after` is null where approvals are asked for whose cost is not known',
        }),
      }),
    ),
  })
  .meta({ id: 'PolicyBacktest' });
