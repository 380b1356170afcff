import { type Client, ScheduleNotFoundError } from '@temporalio/client';
import { CONFIGURE_SIGNAL, sweeperId, type SweepPlan, SYSTEM_QUEUE } from './system/sweeper.contract.ts';

/** Schedules by which earlier versions ran their regular work. */
const OLD_SCHEDULES = ['sweep', 'housekeeping'];

const options = (queuePrefix: string, plan: SweepPlan[]) => ({
  taskQueue: queuePrefix + SYSTEM_QUEUE,
  workflowId: sweeperId(queuePrefix),
  args: [{ plan }],
  staticSummary: 'Recovers lost work and removes what has expired',
});

/** Gives the sweeper its sweeps, starting it when it is not running: each of them has a pass at once. */
export async function configureSweeper(client: Client, queuePrefix: string, plan: SweepPlan[]): Promise<void> {
  await client.workflow.signalWithStart('sweeper', {
    ...options(queuePrefix, plan),
    signal: CONFIGURE_SIGNAL,
    signalArgs: [plan],
  });
}

/** Starts the sweeper when it is not running, as after somebody ended it or the engine lost its store. */
export async function ensureSweeper(client: Client, queuePrefix: string, plan: SweepPlan[]): Promise<void> {
  await client.workflow.start('sweeper', { ...options(queuePrefix, plan), workflowIdConflictPolicy: 'USE_EXISTING' });
}

/** Removes the schedules of earlier versions, which the sweeper replaces. */
export async function removeOldSchedules(client: Client, queuePrefix: string): Promise<void> {
  for (const name of OLD_SCHEDULES) {
    try {
      await client.schedule.getHandle(`quayside-schedule/${queuePrefix}${name}`).delete();
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
    }
  }
}
