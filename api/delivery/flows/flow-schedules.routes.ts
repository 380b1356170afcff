import { z } from 'zod';
import { createSchedule, removeSchedule } from '../../../domain/delivery/flows/schedules/flow-schedules.mutations.ts';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import {
  listSchedules,
  noteSynced,
  type ScheduleRow,
  SCHEDULES_MAX,
} from '../../../domain/delivery/flows/schedules/flow-schedules.queries.ts';
import { runWarnings } from '../../../domain/delivery/flows/gates/run-warnings.ts';
import { nextDue } from '../../../domain/delivery/flows/schedules/schedule-times.ts';
import {
  type ScheduledFlowInput,
  scheduledFlowContract,
} from '../../../workflows/delivery/flows/scheduled-flow.contract.ts';
import { EngineUnavailableError } from '../../../workflows/launch.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, NoContent } from '../../http/parameters.ts';
import type { Scope } from '../../http/scope.ts';
import { NewSchedule, Schedule, ScheduleIn } from './flow-schedules.schemas.ts';

const GROUP = 'Flows';

const view = ({ refusedAt, refusal, ...row }: ScheduleRow, now: Date): z.input<typeof Schedule> => ({
  ...row,
  lastRefusal: refusedAt === null || refusal === null ? null : { at: refusedAt, reason: refusal },
  taskType: String(row.payload.id),
  nextRunAt: nextDue(row, now),
});

/** Updates the schedule in Temporal after the commit; the sweeper retries if the engine is unavailable. */
async function syncEngine({ tx, log }: Scope, input: ScheduledFlowInput, sync: () => Promise<void>): Promise<void> {
  try {
    await sync();
    await tx((work) => noteSynced(work, input.scheduleId));
  } catch (error) {
    if (!(error instanceof EngineUnavailableError)) throw error;
    log.warn({ err: error, scheduleId: input.scheduleId }, 'schedule not updated in Temporal; the sweeper will retry');
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
      const { name, cron, timezone } = schedule;
      const input = { ...tenantOf(scope.actor), scheduleId: schedule.id, name };
      await syncEngine(scope, input, () =>
        scope.adapters.launch.createSchedule(scheduledFlowContract, input, { cron, timezone }),
      );
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
      const { name } = await scope.tx((tx) => removeSchedule(tx, id));
      const input = { ...tenantOf(scope.actor), scheduleId: id, name };
      await syncEngine(scope, input, () => scope.adapters.launch.deleteSchedule(scheduledFlowContract, input));
    },
  }),
];
