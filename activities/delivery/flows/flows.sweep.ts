import { runById } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import {
  forgetScheduleSynced,
  noteRunSwept,
  overdueRuns,
  settleRunCounts,
  syncedSchedules,
  unsyncedSchedules,
  unwrittenChecks,
} from '../../../domain/delivery/flows/overdue-flows.queries.ts';
import { noteSynced } from '../../../domain/delivery/flows/schedules/flow-schedules.queries.ts';
import { closeRun } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { checksChangedSignal, flowChecksContract } from '../../../workflows/delivery/flows/flow-checks.contract.ts';
import { flowRunContract } from '../../../workflows/delivery/flows/flow-run.contract.ts';
import type { EndedState } from '../../../workflows/launch.ts';
import { scheduledFlowContract } from '../../../workflows/delivery/flows/scheduled-flow.contract.ts';
import { defineChore, defineSweep } from '../../kernel/system/define-sweep.ts';
import { unitOfRun } from './run-steps.activities.ts';

/** A run that was accepted so long ago, and has not begun, was not launched. */
const RUN_OVERDUE_SECONDS = 30;
const SCHEDULE_OVERDUE_SECONDS = 5;

const abandoned = (state: EndedState) =>
  ({ status: 'failed', error: `The workflow of the run ended (${state}) without closing it` }) as const;

/**
 * Recovers runs that make no progress: one whose workflow the engine does not know, because it was not launched or the
 * engine lost its store, is started under its row; a cancellation that was not passed on is; and one whose workflow
 * ended without closing it, as an operator can make it, is closed.
 */
export const flowRunsSweep = defineSweep({
  name: 'flow-runs',
  limit: 2_000,
  concurrency: 20,
  due: ({ system }, limit) => overdueRuns(system, RUN_OVERDUE_SECONDS, limit),
  key: ({ run }) => run.runId,
  async handle(deps, { run, isToCancel }) {
    const { launch, system } = deps;
    const state = await launch.stateOf(flowRunContract, run);
    if (state === 'absent') await launch.start(flowRunContract, run);
    else if (state === 'running') {
      if (isToCancel) await launch.cancel(flowRunContract, run);
    } else {
      const unit = unitOfRun(deps, run);
      await unit(async (tx) => closeRun(tx, await runById(tx, run.runId, { forUpdate: true }), abandoned(state)));
    }
    await noteRunSwept(system, run);
    return state === 'running' && !isToCancel ? 0 : 1;
  },
});

/** Keeps the counts of runs cheap to read. */
export const runCountsChore = defineChore({
  name: 'counts-of-runs',
  everyMs: 30_000,
  run: ({ system }) => settleRunCounts(system),
});

/** Writes checks that a lost signal, or a host that was away, left unwritten. */
export const flowChecksSweep = defineSweep({
  name: 'flow-checks',
  limit: 200,
  due: ({ system }, limit) => unwrittenChecks(system, limit),
  key: ({ runId }) => runId,
  handle: ({ launch }, run) => launch.signalWithStart(flowChecksContract, run, checksChangedSignal),
});

/** Finds the schedules that the engine has lost with its store. */
export const lostSchedulesChore = defineChore({
  name: 'lost-flow-schedules',
  everyMs: 600_000,
  async run({ launch, system, log }) {
    const schedules = await syncedSchedules(system);
    if (schedules.length === 0) return 0;
    const known = await launch.scheduleIds();
    const lost = schedules.filter((schedule) => !known.has(launch.idOf(scheduledFlowContract, schedule)));
    if (lost.length === 0) return 0;
    await forgetScheduleSynced(
      system,
      lost.map(({ scheduleId }) => scheduleId),
    );
    log.warn({ lost: lost.length }, 'the engine lost schedules of runs, which are made again');
    return lost.length;
  },
});

/** Makes the engine's schedules those that tenants made, changed or removed while it was away. */
export const flowSchedulesSweep = defineSweep({
  name: 'flow-schedules',
  due: ({ system }, limit) => unsyncedSchedules(system, SCHEDULE_OVERDUE_SECONDS, limit),
  key: ({ scheduleId }) => scheduleId,
  async handle({ launch, system }, { cron, timezone, isPaused, isRemoved, updatedAt, ...input }) {
    if (isRemoved) await launch.deleteSchedule(scheduledFlowContract, input);
    else await launch.setSchedule(scheduledFlowContract, input, { cron, timezone, isPaused });
    await noteSynced(system, { ...input, updatedAt });
  },
});
