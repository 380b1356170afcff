import { runById } from '../../domain/flows/flow-runs.queries.ts';
import {
  noteRunSwept,
  noteScheduleSynced,
  overdueRuns,
  settleRunCounts,
  unsyncedSchedules,
  unwrittenChecks,
} from '../../domain/flows/overdue-flows.queries.ts';
import { closeRun } from '../../domain/flows/flow-runs.mutations.ts';
import { checksChangedSignal, flowChecksContract } from '../../workflows/flows/flow-checks.contract.ts';
import { flowRunContract } from '../../workflows/flows/flow-run.contract.ts';
import { scheduledFlowContract } from '../../workflows/flows/scheduled-flow.contract.ts';
import { defineChore, defineSweep } from '../system/define-sweep.ts';
import { unitOfRun } from './run-steps.activities.ts';

/** A run that was accepted so long ago, and has not begun, was not launched. */
const RUN_OVERDUE_SECONDS = 30;
const SCHEDULE_OVERDUE_SECONDS = 5;

const ABANDONED = { status: 'failed', error: 'The workflow of the run was ended without closing it' } as const;

/**
 * Recovers runs that make no progress: one that was accepted and not launched is launched, a cancellation that was not
 * passed on is, and one whose workflow ended without closing it, as an operator can make it, is closed.
 */
export const flowRunsSweep = defineSweep({
  name: 'flow-runs',
  limit: 2_000,
  concurrency: 20,
  due: ({ system }, limit) => overdueRuns(system, RUN_OVERDUE_SECONDS, limit),
  key: ({ run }) => run.runId,
  async handle(deps, { run, isNew, isToCancel }) {
    const { launch, system } = deps;
    if (isNew) await launch.start(flowRunContract, run);
    if (isToCancel) await launch.cancel(flowRunContract, run);
    await noteRunSwept(system, run);
    if (isNew || isToCancel) return 1;
    if (await launch.isRunning(flowRunContract, run)) return 0;
    const unit = unitOfRun(deps, run);
    await unit(async (tx) => closeRun(tx, await runById(tx, run.runId, { forUpdate: true }), ABANDONED));
    return 1;
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

/** Makes the engine's schedules those that tenants made or removed while it was away. */
export const flowSchedulesSweep = defineSweep({
  name: 'flow-schedules',
  due: ({ system }, limit) => unsyncedSchedules(system, SCHEDULE_OVERDUE_SECONDS, limit),
  key: ({ scheduleId }) => scheduleId,
  async handle({ launch, system }, { cron, timezone, isRemoved, ...input }) {
    if (isRemoved) await launch.deleteSchedule(scheduledFlowContract, input);
    else await launch.createSchedule(scheduledFlowContract, input, { cron, timezone });
    await noteScheduleSynced(system, input);
  },
});
