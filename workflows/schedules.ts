import type { Client, ScheduleOptions } from '@temporalio/client';
import { ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client';

/** The task queue of the service's own regular work. */
export const SYSTEM_QUEUE = 'system-v1';

interface RegularWork {
  name: string;
  workflow: string;
  everyMs: number;
  note: string;
}

/** All that runs regularly. What is not listed here is removed from Temporal when a worker starts. */
const REGULAR_WORK: readonly RegularWork[] = [
  { name: 'sweep', workflow: 'sweep', everyMs: 10_000, note: 'Asks again for what was accepted and not carried out' },
  { name: 'housekeeping', workflow: 'housekeeping', everyMs: 3_600_000, note: 'Removes what has outlived its time' },
];

const ID_ROOT = 'quayside-schedule/';

/** Makes the schedules in Temporal the same as the list: creates, updates and removes. Safe to run from every worker. */
export async function reconcileSchedules(client: Client, queuePrefix: string): Promise<void> {
  const root = ID_ROOT + queuePrefix;
  const wanted = new Map(REGULAR_WORK.map((work) => [root + work.name, work]));
  for await (const { scheduleId } of client.schedule.list()) {
    const isOurs = scheduleId.startsWith(root) && !scheduleId.slice(root.length).includes('/');
    if (isOurs && !wanted.has(scheduleId)) await ignoreMissing(client.schedule.getHandle(scheduleId).delete());
  }
  for (const [scheduleId, work] of wanted) {
    const options = optionsOf(scheduleId, work, queuePrefix);
    const handle = client.schedule.getHandle(scheduleId);
    try {
      await handle.update((previous) => ({ ...options, state: previous.state }));
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
      await client.schedule.create(options).catch(ignoreExisting);
    }
  }
}

const optionsOf = (
  scheduleId: string,
  { workflow, everyMs, note }: RegularWork,
  queuePrefix: string,
): ScheduleOptions => ({
  scheduleId,
  spec: { intervals: [{ every: everyMs }] },
  policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
  state: { note },
  action: {
    type: 'startWorkflow',
    workflowType: workflow,
    workflowId: scheduleId.replace(ID_ROOT, 'system/'),
    taskQueue: queuePrefix + SYSTEM_QUEUE,
    args: [],
    staticSummary: note,
    workflowExecutionTimeout: '10 minutes',
  },
});

async function ignoreMissing(removal: Promise<unknown>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}

/** Another worker that started at the same time was faster. */
function ignoreExisting(error: unknown): void {
  if ((error as Error).name !== 'ScheduleAlreadyRunning') throw error;
}
