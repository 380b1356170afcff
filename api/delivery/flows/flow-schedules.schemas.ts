import { z } from 'zod';
import { JsonObject, NAME_MAX, Timestamp } from '../../http/parameters.ts';
import { warnings } from './flow-starts.schemas.ts';

const cron = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .meta({ description: 'Five fields: minute, hour, day of month, month, day of week', example: '0 3 * * *' });
const timezone = z.string().max(64);
const ZONE = { description: 'IANA time zone' };
const payload = JsonObject.meta({ description: 'As in `POST /api/flows/run`' });

export const ScheduleIn = z.strictObject({
  name: z.string().trim().min(1).max(NAME_MAX),
  cron,
  timezone: timezone.default('UTC').meta(ZONE),
  payload,
});

export const SchedulePatch = z
  .strictObject({ cron, timezone: timezone.meta(ZONE), payload, isPaused: z.boolean() })
  .partial();

export const Schedule = z
  .object({
    id: z.uuid(),
    name: z.string(),
    cron: z.string(),
    timezone: z.string(),
    taskType: z.string(),
    repositoryIdentifier: z.string().nullable(),
    payload: JsonObject,
    schedulePath: z.string(),
    isPaused: z.boolean(),
    nextRunAt: Timestamp.nullable().meta({ description: 'Null while it is paused, or where it is never due again' }),
    lastRefusal: z
      .object({ at: Timestamp, reason: z.string() })
      .nullable()
      .meta({ description: 'Why no run could be accepted when the schedule was last due; null if one was' }),
    createdBy: z.string(),
    createdAt: Timestamp,
  })
  .meta({ id: 'FlowSchedule' });

export const NewSchedule = Schedule.extend(warnings).meta({ id: 'NewFlowSchedule' });
