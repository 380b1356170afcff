import { z } from 'zod';
import {
  changeSchedule,
  createSchedule,
  removeSchedule,
} from '../../../domain/delivery/flows/schedules/flow-schedules.mutations.ts';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import {
  listSchedules,
  noteSynced,
  type ScheduleRow,
  SCHEDULES_MAX,
} from '../../../domain/delivery/flows/schedules/flow-schedules.queries.ts';
import { runWarnings } from '../../../domain/delivery/flows/gates/run-warnings.ts';
import { nextDue } from '../../../domain/delivery/flows/schedules/schedule-times.ts';
import { scheduledFlowContract } from '../../../workflows/delivery/flows/scheduled-flow.contract.ts';
import { EngineUnavailableError } from '../../../workflows/launch.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, NoContent } from '../../http/parameters.ts';
import type { Scope } from '../../http/scope.ts';
import { NewSchedule, Schedule, ScheduleIn, SchedulePatch } from './flow-schedules.schemas.ts';

const GROUP = 'Flows';

const view = ({ refusedAt, refusal, updatedAt: _, ...row }: ScheduleRow, now: Date): z.input<typeof Schedule> => ({
  ...row,
  lastRefusal: refusedAt === null || refusal === null ? null : { at: refusedAt, reason: refusal },
  taskType: String(row.payload.id),
  nextRunAt: row.isPaused ? null : nextDue(row, now),
});

/** Updates the schedule in Temporal after the commit; the sweeper retries if the engine is unavailable. */
async function syncEngine(
  { tx, log, actor, adapters: { launch } }: Scope,
  { id: scheduleId, name, cron, timezone, isPaused, updatedAt }: ScheduleRow,
  { isRemoved = false } = {},
): Promise<void> {
  const input = { ...tenantOf(actor), scheduleId, name };
  try {
    if (isRemoved) await launch.deleteSchedule(scheduledFlowContract, input);
    else await launch.setSchedule(scheduledFlowContract, input, { cron, timezone, isPaused });
    await tx(({ db, tenantId }) => noteSynced(db, { tenantId, scheduleId, updatedAt }));
  } catch (error) {
    if (!(error instanceof EngineUnavailableError)) throw error;
    log.warn({ err: error, scheduleId }, 'schedule not updated in Temporal; the sweeper will retry');
  }
}

export const flowSchedulesRoutes = [
  defineRoute({
    operationId: 'createFlowSchedule',
    method: 'post',
    path: '/api/flows/schedules',
    group: GROUP,
    summary: 'Create a schedule for a flow',
    description: `Its runs have the trigger \`cron\` and are listed with \`includeScheduled=true\`. A tenant can have at most ${SCHEDULES_MAX} schedules. Whether a release can go is checked when the schedule is due: a run that would be refused then fails with the reason. If the payload names something that no longer exists, there is no run, and \`lastRefusal\` has the reason.`,
    roles: ['owner', 'application'],
    projectScope: 'row',
    body: ScheduleIn,
    status: 201,
    response: NewSchedule,
    errors: ['already_exists', 'flow_unavailable', 'too_few_approvers'],
    audit: 'flow_schedule.created',
    async handle({ body }, scope) {
      const { warnings, ...schedule } = await scope.tx(async (tx) => {
        const made = await createSchedule(tx, body, scope.adapters.flows.commands);
        return { ...made, warnings: await runWarnings(tx, tx.actor, made.payload) };
      });
      await syncEngine(scope, schedule);
      return { ...view(schedule, scope.now()), warnings };
    },
  }),
  defineRoute({
    operationId: 'listFlowSchedules',
    method: 'get',
    path: '/api/flows/schedules',
    group: GROUP,
    summary: 'List schedules, ordered by name',
    roles: ANY_ROLE,
    projectScope: 'row',
    status: 200,
    response: z.array(Schedule),
    handle: async (_, { reads, now }) => (await listSchedules(reads)).map((row) => view(row, now())),
  }),
  defineRoute({
    operationId: 'updateFlowSchedule',
    method: 'patch',
    path: '/api/flows/schedules/{id}',
    group: GROUP,
    summary: 'Change when a schedule is due or what it starts, or pause it',
    description:
      'Given members replace the current ones, each as a whole. A paused schedule starts no run, and makes up for none when it goes on. With another `payload` or other times, and where it goes on, its runs count as those of whoever changed it, too. Runs that have been started are not changed.',
    roles: ['owner', 'application'],
    projectScope: 'row',
    params: byId,
    body: SchedulePatch,
    status: 200,
    response: NewSchedule,
    errors: ['flow_unavailable', 'too_few_approvers'],
    audit: 'flow_schedule.updated',
    async handle({ params: { id }, body }, scope) {
      const { warnings, ...schedule } = await scope.tx(async (tx) => {
        const changed = await changeSchedule(tx, id, body, scope.adapters.flows.commands);
        return { ...changed, warnings: await runWarnings(tx, tx.actor, changed.payload) };
      });
      await syncEngine(scope, schedule);
      return { ...view(schedule, scope.now()), warnings };
    },
  }),
  defineRoute({
    operationId: 'deleteFlowSchedule',
    method: 'delete',
    path: '/api/flows/schedules/{id}',
    group: GROUP,
    summary: 'Delete a schedule; its runs are kept',
    roles: ['owner', 'application'],
    projectScope: 'row',
    params: byId,
    status: 204,
    response: NoContent,
    audit: 'flow_schedule.deleted',
    async handle({ params: { id } }, scope) {
      await syncEngine(scope, await scope.tx((tx) => removeSchedule(tx, id)), { isRemoved: true });
    },
  }),
];
