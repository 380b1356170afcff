import { z } from 'zod';
import {
  INSTANCE_STATES,
  type InstanceState,
  ON_RELEASE,
  POOL_TYPES,
  SETTABLE_STATES,
} from '../../../domain/review/review-pools/instance-rules.ts';
import { LEASE_HOURS, LEASE_HOURS_MAX } from '../../../domain/review/review-pools/review-pools.mutations.ts';
import {
  CurrentVersion,
  DateTime,
  Id,
  GivenObject,
  JsonObject,
  NAME_MAX,
  Name,
  queryInt,
  RepositoryIdentifier,
  Timestamp,
  WITHOUT_CONTROLS,
} from '../../http/parameters.ts';
import { warningsOf } from '../../http/warnings.ts';

const hours = (description: string) => z.int().min(1).max(LEASE_HOURS_MAX).meta({ description });

const fields = {
  minAvailable: z.int().min(0).max(50).meta({
    description: 'Orgs to keep available: runs of type pool-prepare make what is missing, and what others wait for',
  }),
  maxInstances: z.int().min(1).max(200).meta({ description: 'Orgs that the pool may have; ended ones do not count' }),
  leaseHours: hours('Hours for which an org is assigned unless the request says otherwise'),
  maxLeaseHours: hours('Hours after its beginning at which an assignment ends at the latest, extended or not'),
  onRelease: z.enum(ON_RELEASE).meta({
    description:
      'What becomes of an org when its assignment ends: `discard` retires it, `reuse` makes it available at once, `refresh` once a builder has refreshed it',
  }),
  definition: GivenObject.meta({
    description:
      'For the builder, which gets it in the payload of its run. `pipeline` has the runs executed as a pipeline of the git host, as in a payload. `newOrgs: scratch` has the service make scratch orgs, by `devHub`, `definitionFile`, `branch`, `durationDays`, `packages`, `deploySource`, `sourcePackages`, `permissionSets` and `command`; `newOrgs: sandbox` sandboxes, by `sandbox`',
  }),
  isActive: z
    .boolean()
    .meta({ description: 'An inactive pool prepares no orgs, also for those who wait, and takes no new assignments' }),
};

export const ReviewPoolIn = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier,
  tag: Name.regex(WITHOUT_CONTROLS, 'must have no control characters').meta({
    description: 'Unique in the repository',
    example: 'review',
  }),
  type: z.enum(POOL_TYPES),
  minAvailable: fields.minAvailable.default(0),
  maxInstances: fields.maxInstances.default(10),
  leaseHours: fields.leaseHours.default(LEASE_HOURS),
  maxLeaseHours: fields.maxLeaseHours.default(LEASE_HOURS_MAX),
  onRelease: fields.onRelease.default('discard'),
  definition: fields.definition.default({}),
  isActive: fields.isActive.default(true),
});

export const ReviewPoolPatch = z.strictObject(fields).partial().extend({ version: CurrentVersion.optional() });

export const ReviewPool = z
  .object({
    id: z.uuid(),
    repositoryIdentifier: RepositoryIdentifier,
    tag: z.string(),
    type: z.enum(POOL_TYPES),
    ...fields,
    definition: JsonObject.meta({ description: fields.definition.description }),
    instances: z
      .object({
        provisioning: z.int(),
        available: z.int(),
        assigned: z.int(),
        refreshing: z.int(),
        expired: z.int(),
        failed: z.int(),
      } satisfies Record<InstanceState, z.ZodInt>)
      .meta({ description: 'How many orgs are in each state' }),
    builder: z.enum(['cicd', 'command', 'activity']).nullable().meta({
      description:
        'What makes orgs for the pool: the `pipeline` of its definition (`cicd`), a command of the operator, or the service itself (`activity`); null: nothing here does, and orgs are only those that others register',
    }),
    prepareFailures: z.int().meta({ description: 'Runs of pool-prepare that failed in a row' }),
    prepareError: z.string().nullable().meta({ description: 'Why the last of them failed, or none was started' }),
    prepareDueAt: Timestamp.nullable().meta({ description: 'When the next of them begins at the earliest' }),
    version: z.int(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    createdBy: z.string(),
    updatedBy: z.string(),
  })
  .meta({ id: 'ReviewPool' });

export const ReviewPoolWithWarnings = ReviewPool.extend(warningsOf('no_builder')).meta({
  id: 'ReviewPoolWithWarnings',
});

const page = { limit: queryInt(1, 200, 50), offset: queryInt(0, 1_000_000, 0) };
const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), total: z.int(), limit: z.int(), offset: z.int() });

export const ReviewPoolsQuery = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier.optional(),
  tag: Name.optional(),
  isActive: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional(),
  ...page,
});
export const ReviewPools = pageOf(ReviewPool);

export const ofInstance = z.object({ id: Id, instanceId: Id });

const Username = z
  .string()
  .trim()
  .min(1)
  .max(NAME_MAX)
  .regex(WITHOUT_CONTROLS, 'must have no control characters')
  .meta({ description: 'Username in the org; case does not count', example: 'review-7@acme.example.com' });

export const ReviewInstanceIn = z.strictObject({
  username: Username,
  instanceUrl: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .nullable()
    .optional(),
  cliAuthUrl: z.string().min(1).max(4_000).nullable().optional().meta({
    description: 'The auth URL of the org: kept encrypted, and never answered',
  }),
  expiresAt: DateTime.nullable().optional().meta({ description: 'When the org itself ends' }),
  metadata: GivenObject.optional(),
  state: z.enum(['provisioning', 'available']).default('available'),
});

export const ReviewInstancePatch = z.strictObject({
  state: z.enum(SETTABLE_STATES),
  reason: z.string().trim().min(1).max(1_000).optional(),
});

export const ReviewInstance = z
  .object({
    id: z.uuid(),
    poolId: z.uuid(),
    username: z.string(),
    instanceUrl: z.string().nullable(),
    expiresAt: Timestamp.nullable(),
    metadata: JsonObject,
    state: z.enum(INSTANCE_STATES),
    reason: z.string().nullable(),
    stateChangedAt: Timestamp,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'ReviewInstance' });

export const ReviewInstancesQuery = z.strictObject({ state: z.enum(INSTANCE_STATES).optional(), ...page });
export const ReviewInstances = pageOf(ReviewInstance);
