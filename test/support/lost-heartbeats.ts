import { Client, Connection } from '@temporalio/client';
import type { TestApp } from './app.ts';
import { eventually } from './eventually.ts';

/** As the engine's interface numbers them. */
const [STATE_STARTED, TIMEOUT_TYPE_HEARTBEAT] = [2, 4];
/** A lost worker is to be noticed within this time. */
const HEARTBEAT_MAX_SECONDS = 30;

/**
 * Has the engine time out the activities which a killed worker has left of a workflow, as it does by itself when no
 * heartbeat comes, but now. Rejects for one that has no heartbeat timeout, or a long one: the engine would not notice.
 * @param count so many it has left; undefined: those that there are now.
 */
export async function loseHeartbeats(app: TestApp, workflowId: string, count?: number): Promise<void> {
  const connection = await Connection.connect({ address: app.env.TEMPORAL_ADDRESS ?? '' });
  try {
    const { workflow, workflowService } = new Client({ connection });
    const handle = workflow.getHandle(workflowId);
    const { left } = await eventually(
      async () => {
        const { raw, status } = await handle.describe();
        const started = (raw.pendingActivities ?? []).filter(({ state }) => Number(state) === STATE_STARTED);
        return { left: started, isRunning: status.name === 'RUNNING' };
      },
      // On a machine that is very busy the engine may have noticed by itself, and all may be done.
      ({ left: { length }, isRunning }) => count === undefined || length === count || !isRunning,
    );
    const { events } = await handle.fetchHistory();
    for (const { activityId, activityType } of left) {
      const scheduled = events?.findLast(
        ({ activityTaskScheduledEventAttributes: made }) => made?.activityId === activityId,
      );
      const seconds = Number(scheduled?.activityTaskScheduledEventAttributes?.heartbeatTimeout?.seconds ?? 0);
      if (seconds <= 0 || seconds > HEARTBEAT_MAX_SECONDS)
        throw new Error(`nobody would notice that the worker of ${activityType?.name} is gone`);
      await workflowService.respondActivityTaskFailedById({
        namespace: 'default',
        workflowId,
        activityId: activityId ?? '',
        failure: {
          message: 'activity Heartbeat timeout',
          source: 'Server',
          timeoutFailureInfo: { timeoutType: TIMEOUT_TYPE_HEARTBEAT as never },
        },
      });
    }
  } finally {
    await connection.close();
  }
}
