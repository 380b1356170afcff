import { z } from 'zod';
import {
  insertSchedule,
  listSchedules,
  noteSynced,
  removeSchedule,
  type ScheduleRow,
  SCHEDULES_MAX,
} from '../../domain/flows/flow-schedules.queries.ts';
import { placeOf } from '../../domain/flows/new-runs.queries.ts';
import { parsePayload } from '../../domain/flows/flow-types.ts';
import { nextDue } from '../../domain/flows/schedule-times.ts';
import type { Tx } from '../../domain/unit-of-work.ts';
import { type ScheduledFlowInput, scheduledFlow } from '../../workflows/flows/scheduled-flow.contract.ts';
import { EngineUnavailableError } from '../../workflows/launch.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { NoContent } from '../http/parameters.ts';
import type { Scope } from '../http/scope.ts';
import { byId, Schedule, ScheduleIn } from './flow-runs.schemas.ts';

const GROUP = 'Flows';

const view = (row: ScheduleRow, now: Date): z.input<typeof Schedule> => ({
  ...row,
  taskType: String(row.payload.id),
  nextRunAt: nextDue(row, now),
});

const audit = (
  tx: Tx,
  action: string,
  { id, name, cron, timezone, repositoryIdentifier, payload }: ScheduleRow,
  summary: string,
) =>
  tx.audit({
    source: 'flow',
    action,
    entityType: 'flow_schedule',
    entityId: id,
    repositoryIdentifier,
    summary,
    after: { name, cron, timezone, taskType: payload.id },
  });

/** Tells the engine after the commit; when it is away the sweep does. */
async function tellEngine({ tx, log }: Scope, input: ScheduledFlowInput, tell: () => Promise<void>): Promise<void> {
  try {
    await tell();
    await tx((work) => noteSynced(work, input.scheduleId));
  } catch (error) {
    if (!(error instanceof EngineUnavailableError)) throw error;
    log.warn({ err: error, scheduleId: input.scheduleId }, 'the engine is told of the schedule later');
  }
}

export const flowSchedulesRoutes = [
  defineRoute({
    operationId: 'createFlowSchedule',
    method: 'post',
    path: '/api/flows/schedules',
    group: GROUP,
    summary: 'Run a flow on a schedule',
    description: `Its runs are triggered by \`cron\` and listed with \`includeScheduled=true\`. A tenant has at most ${SCHEDULES_MAX}.`,
    roles: ['owner', 'application'],
    body: ScheduleIn,
    status: 201,
    response: Schedule,
    errors: ['already_exists'],
    audit: 'flow_schedule.created',
    async handle({ body: { name, cron, timezone, payload } }, scope) {
      nextDue({ cron, timezone }, scope.now());
      const schedule = await scope.tx(async (tx) => {
        const { payload: parsed } = parsePayload(payload);
        const place = await placeOf(tx, parsed);
        const made = await insertSchedule(tx, {
          name,
          cron,
          timezone,
          payload: parsed,
          schedulePath: `schedules/${name}`,
          projectId: place?.projectId ?? null,
        });
        audit(tx, 'flow_schedule.created', made, `Schedule ${name} made`);
        return made;
      });
      const input = { tenantId: scope.actor.tenantId, scheduleId: schedule.id, name };
      await tellEngine(scope, input, () => scope.adapters.launch.schedule(scheduledFlow, input, { cron, timezone }));
      return view(schedule, scope.now());
    },
  }),
  defineRoute({
    operationId: 'listFlowSchedules',
    method: 'get',
    path: '/api/flows/schedules',
    group: GROUP,
    summary: 'Schedules of flows, by name',
    roles: ANY_ROLE,
    status: 200,
    response: z.array(Schedule),
    handle: async (_, { reads, now }) => (await listSchedules(reads)).map((row) => view(row, now())),
  }),
  defineRoute({
    operationId: 'deleteFlowSchedule',
    method: 'delete',
    path: '/api/flows/schedules/{id}',
    group: GROUP,
    summary: 'Remove a schedule; runs that it made stay',
    roles: ['owner', 'application'],
    params: byId,
    status: 204,
    response: NoContent,
    audit: 'flow_schedule.deleted',
    async handle({ params: { id } }, scope) {
      const { name } = await scope.tx(async (tx) => {
        const removed = await removeSchedule(tx, id);
        audit(tx, 'flow_schedule.deleted', removed, `Schedule ${removed.name} removed`);
        return removed;
      });
      const input = { tenantId: scope.actor.tenantId, scheduleId: id, name };
      await tellEngine(scope, input, () => scope.adapters.launch.unschedule(scheduledFlow, input));
    },
  }),
];
