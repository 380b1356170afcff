import { z } from 'zod';
import { DISPLAY_STATUSES, RUN_STATUSES, statusesOf } from '../../../domain/delivery/flows/run-status-rules.ts';
import {
  FreeText,
  Id,
  JsonObject,
  Name,
  OPEN_LIMITS,
  RepositoryIdentifier,
  withinSize,
} from '../../http/parameters.ts';

const TaskType = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,99}$/i, 'must be the name of a flow type');
/** A raw status, or a displayed one, which is mapped to its most general raw status. */
const Status = z
  .string()
  .refine(
    (name) => [...RUN_STATUSES, ...DISPLAY_STATUSES].some((known) => known === name),
    `must be one of ${RUN_STATUSES.join(', ')}`,
  )
  .transform((name) => (name === 'Waiting' ? 'queued' : (statusesOf([name])[0] ?? 'queued')))
  .meta({ type: 'string', enum: [...RUN_STATUSES, ...DISPLAY_STATUSES] });

export const RegisterChildIn = z.strictObject({
  parentTaskExecutionId: Id,
  taskType: TaskType,
  flowPath: Name,
  repositoryIdentifier: RepositoryIdentifier,
  domainName: Name.optional(),
  releaseName: Name.optional().meta({ description: 'The release that it deploys; default: that of the parent' }),
  environmentName: Name.optional().meta({
    description: 'The environment to which it deploys: when it ends, its deployment is recorded',
  }),
});
export const RegisteredChild = z
  .object({
    executionId: z.uuid(),
    approvalControls: z.object({ skipApproval: z.boolean(), approvers: z.array(z.string()) }),
  })
  .meta({ id: 'RegisteredChild' });

export const RegisterScheduledIn = z.strictObject({
  hatchetRunId: Name,
  taskType: TaskType,
  flowPath: Name,
  repositoryIdentifier: RepositoryIdentifier,
  schedulePath: Name,
});
export const RegisteredScheduled = z.object({ executionId: z.uuid() }).meta({ id: 'RegisteredScheduled' });

/** What it may hold once it is merged is refused as too large, not as malformed: it may come larger than that. */
const RunResult = withinSize(JsonObject, { ...OPEN_LIMITS, characters: 2_000_000 });

export const MetadataIn = z.strictObject({ result: RunResult });

export const ReconcileCheckIn = z.strictObject({ reportingExecutionId: Id, domainName: Name, status: Status });
export const ReconcileBuildCheckIn = ReconcileCheckIn.partial().optional();
export const ValidationCheckIn = z.strictObject({
  domainResults: z
    .array(z.strictObject({ domainName: Name, status: Status }))
    .min(1)
    .max(500),
});

export const TrackLockIn = z.strictObject({
  executionId: Id,
  lockKey: Name,
  ticketId: Name.optional(),
  runId: Name.optional(),
});

export const CallbackIn = z.strictObject({
  event: z.enum(['started', 'completed', 'failed', 'rejected', 'cancelled']),
  cicdRunUrl: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional(),
  error: FreeText.optional(),
  result: RunResult.optional(),
});
