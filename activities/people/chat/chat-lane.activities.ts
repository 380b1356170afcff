import { activityInfo } from '@temporalio/activity';
import { CHAT_LINGER_MS, type ChatLane } from '../../../workflows/people/chat/chat-lane.contract.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import { createDuePoller, type DuePoller } from '../../events/webhooks/due-poller.ts';
import { WorkQueue } from '../../work-queue.ts';
import { actionQueue, type ChatQueue, messageQueue } from './chat-queues.ts';

/** Actions of one workspace that are under way at a time. */
const OPEN_MAX = 8;
const POLL_WAIT_MS = 500;
/** A pump ends after this, so that a lane which is always hot still moves between workers and continues as new. */
const PUMP_RUN_MS = 300_000;

export type ChatLaneActivities = ReturnType<typeof createChatLaneActivities>;

/** The activities of the lanes of chat workspaces. */
export function createChatLaneActivities(deps: Deps) {
  const queues = [actionQueue(deps), messageQueue(deps)];
  const dueWorkspaces = async (ids: readonly string[]) =>
    (await Promise.all(queues.map((queue) => queue.dueWorkspaces(ids)))).flat();
  const poller = createDuePoller(dueWorkspaces, (error) =>
    deps.log.warn({ err: error }, 'the chat lanes could not find out what is due'),
  );
  return {
    /** Does what is due in a workspace, and what becomes due while the lane is hot; answers in how many ms there is more, or null. */
    pumpChatLane: (lane: ChatLane): Promise<number | null> =>
      withHeartbeat(async (stop) => {
        if (activityInfo().attempt > 1) for (const queue of queues) await queue.releaseAll(lane);
        return pump(lane, queues, poller, stop);
      }),
  };
}

async function pump(
  lane: ChatLane,
  queues: readonly ChatQueue[],
  poller: DuePoller,
  stop: AbortSignal,
): Promise<number | null> {
  const open = new WorkQueue<() => Promise<void>>((work) => work(), OPEN_MAX);
  const endAt = performance.now() + PUMP_RUN_MS;
  const nextDueInMs = async (): Promise<number | undefined> => {
    const due = await Promise.all(queues.map((queue) => queue.nextDueInMs(lane)));
    const known = due.filter((inMs) => inMs !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  };
  let checkAt = 0;
  try {
    while (!stop.aborted && performance.now() < endAt) {
      let claimed = 0;
      for (const queue of queues) {
        const free = OPEN_MAX - open.size;
        const works = free > 0 ? await queue.claim(lane, free) : [];
        for (const work of works) open.add(work);
        claimed += works.length;
      }
      if (claimed > 0) checkAt = performance.now() + CHAT_LINGER_MS;
      await open.downTo(OPEN_MAX - 1);
      open.throwFailure();
      if (open.size === 0 && performance.now() > checkAt) {
        const inMs = await nextDueInMs();
        if (inMs === undefined || inMs > CHAT_LINGER_MS) return inMs ?? null;
        checkAt = performance.now() + POLL_WAIT_MS;
      }
      await poller.waitForDue(lane.workspaceId, claimed, POLL_WAIT_MS);
    }
  } finally {
    await open.downTo(0);
  }
  open.throwFailure();
  return (await nextDueInMs()) ?? null;
}
