import { type Client, ScheduleNotFoundError, WorkflowNotFoundError } from '@temporalio/client';
import { configureSignal, sweeperId, type SweepPlan } from './kernel/system/sweeper.contract.ts';
import { SYSTEM_QUEUE } from './queues.contract.ts';

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

/** The task queues of the versions that gave such ids. */
const OLD_QUEUES = 'webhooks releases flows approvals environment-locks commands git audit ai'
  .split(' ')
  .map((name) => `${name}-v1`);

/** Ids that earlier versions gave began with the UUID of a tenant. */
const OLD_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\/[a-z-]+\//;

/** Ids that ended with the whole UUID of a row: of workflows that stay for long or that the row waits for. */
const UUID_ENDED = /^[^/]+\/([a-z-]+)\/(.+\/)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const KINDS_OF_UUID_ENDED = new Set([
  'ai-report',
  'analysis-results',
  'approval',
  'audit-export',
  'browser-session',
  'chat-lane',
  'environment-lock',
  'git-mirror',
  'mock-drift',
  'pull-requests',
  'review-assignment',
  'review-pool',
  'work-item-report',
]);

const isOld = (workflowId: string): boolean =>
  OLD_ID.test(workflowId) || KINDS_OF_UUID_ENDED.has(UUID_ENDED.exec(workflowId)?.[1] ?? '');

/**
 * Ends the workflows and removes the schedules that bear ids of earlier versions: the sweeper carries on their rows under
 * the ids of today. Answers how many there were.
 */
export async function endWorkflowsOfOldIds(client: Client, queuePrefix: string): Promise<number> {
  let ended = 0;
  const queues = OLD_QUEUES.map((name) => `"${queuePrefix}${name}"`).join(', ');
  const query = `ExecutionStatus = "Running" AND TaskQueue IN (${queues})`;
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    if (!isOld(workflowId)) continue;
    await client.workflow.getHandle(workflowId, runId).terminate('Carried on under the id that it has today');
    ended++;
  }
  for await (const { scheduleId } of client.schedule.list()) {
    if (!scheduleId.startsWith(queuePrefix) || !OLD_ID.test(scheduleId.slice(queuePrefix.length))) continue;
    await client.schedule.getHandle(scheduleId).delete();
    ended++;
  }
  return ended;
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
