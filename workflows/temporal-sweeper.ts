import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { configureSignal, sweeperId, type SweepPlan } from './kernel/system/sweeper.contract.ts';
import { SYSTEM_QUEUE } from './queues.contract.ts';

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
    signal: configureSignal,
    signalArgs: [plan],
  });
}

/** Whether the sweeper runs: it does not after somebody ended it, or the engine lost its store. */
export async function isSweeperRunning(client: Client, queuePrefix: string): Promise<boolean> {
  try {
    return (await client.workflow.getHandle(sweeperId(queuePrefix)).describe()).status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
