import { z } from 'zod';
import { JsonObject, NAME_MAX, Timestamp } from '../../http/parameters.ts';
import { warnings } from './flow-starts.schemas.ts';

export const ScheduleIn = z.strictObject({
  name: z.string().trim().min(1).max(NAME_MAX),
  cron: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .meta({ description: 'Five fields: minute, hour, day of month, month, day of week', example: '0 3 * * *' }),
  timezone: z.string().max(64).default('UTC').meta({ description: 'IANA time zone' }),
  payload: JsonObject.meta({ description: 'As in `POST /api/flows/run`' }),
});

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
    nextRunAt: Timestamp.nullable(),
    lastRefusal: z
      .object({ at: Timestamp, reason: z.string() })
      .nullable()
      .meta({ description: 'Why no run could be accepted when the schedule was last due; null if one was' }),
    createdBy: z.string(),
    createdAt: Timestamp,
  })
  .meta({ id: 'FlowSchedule' });

export const NewSchedule = Schedule.extend(warnings).meta({ id: 'NewFlowSchedule' });
