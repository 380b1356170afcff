import { CHAT_LINGER_MS, type ChatLane } from '../../../workflows/people/chat/chat-lane.contract.ts';
import type { Deps } from '../../deps.ts';
import { createDuePoller, type DuePoller } from '../../due-poller.ts';
import { asPump, pumpRows } from '../../row-pump.ts';
import { actionQueue, type ChatQueue, messageQueue } from './chat-queues.ts';

/** Actions of one workspace that are under way at a time. */
const OPEN_MAX = 8;

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
      asPump(
        () => Promise.all(queues.map((queue) => queue.releaseAll(lane))),
        (stop) => pumpActions(lane, queues, poller, stop),
      ),
  };
}

const pumpActions = (
  lane: ChatLane,
  queues: readonly ChatQueue[],
  poller: DuePoller,
  stop: AbortSignal,
): Promise<number | null> =>
  pumpRows<() => Promise<void>, void>(
    {
      async claim(limit) {
        const works: (() => Promise<void>)[] = [];
        for (const queue of queues)
          if (works.length < limit) works.push(...(await queue.claim(lane, limit - works.length)));
        return works;
      },
      handle: (work) => work(),
      note: () => Promise.resolve(),
      // Each is short: what was claimed is done, also where the pump was told to stop meanwhile.
      release: async (works) => void (await Promise.all(works.map((work) => work()))),
      async nextDueInMs() {
        const due = await Promise.all(queues.map((queue) => queue.nextDueInMs(lane)));
        return due.filter((inMs) => inMs !== undefined).toSorted((one, other) => one - other)[0];
      },
      waitForDue: (claimed, withinMs) => poller.waitForDue(lane.workspaceId, claimed, withinMs),
      heldMax: OPEN_MAX,
      refillAt: OPEN_MAX - 1,
      lingerMs: CHAT_LINGER_MS,
    },
    stop,
  );
