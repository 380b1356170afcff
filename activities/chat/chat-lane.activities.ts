import { activityInfo } from '@temporalio/activity';
import {
  type ChatActionStore,
  type ChatLaneKey,
  type ClaimedAction,
  createChatActionStore,
} from '../../domain/chat/chat-actions.queries.ts';
import { createChatPeople, type ChatTeam } from '../../domain/chat/chat-people.ts';
import type { ChatFailure } from '../../domain/chat/chat-platform.port.ts';
import { openChatSecret } from '../../domain/chat/chat-secrets.ts';
import { secretsOfWorkspace } from '../../domain/chat/chat-workspaces.queries.ts';
import { disconnectWorkspace } from '../../domain/chat/disconnect.mutations.ts';
import { createDeploymentLogCache } from '../../domain/deployments/deployment-log-cache.ts';
import { createCommitGraphCache } from '../../domain/git/commit-graph-cache.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import { sendDecision } from '../../workflows/approvals/approval.contract.ts';
import { CHAT_LINGER_MS, type ChatLane } from '../../workflows/chat/chat-lane.contract.ts';
import type { Deps } from '../deps.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { createDuePoller, type DuePoller } from '../webhooks/due-poller.ts';
import { WorkQueue } from '../work-queue.ts';
import { performAction } from './perform-action.ts';

/** Actions of one workspace that are under way at a time. */
const OPEN_MAX = 8;
const POLL_WAIT_MS = 500;
/** A pump ends after this, so that a lane which is always hot still moves between workers and continues as new. */
const PUMP_RUN_MS = 300_000;
/** A response can be given for half an hour; a person does not wait so long. */
const GIVE_UP_MS = 15 * 60_000;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 60_000;

export type ChatLaneActivities = ReturnType<typeof createChatLaneActivities>;

/** The activities of the lanes of chat workspaces. */
export function createChatLaneActivities(deps: Deps) {
  const store = createChatActionStore(deps.system);
  const poller = createDuePoller(store.dueWorkspaces, (error) =>
    deps.log.warn({ err: error }, 'the chat lanes could not find out what is due'),
  );
  const handle = createHandler(deps, store);
  return {
    /** Does what is due in a workspace, and what becomes due while the lane is hot; answers in how many ms there is more, or null. */
    pumpChatLane: (lane: ChatLane): Promise<number | null> =>
      withHeartbeat(async (stop) => {
        if (activityInfo().attempt > 1) await store.releaseAll(lane);
        return pump(lane, { store, poller, handle }, stop);
      }),
  };
}

interface PumpParts {
  store: ChatActionStore;
  poller: DuePoller;
  handle: (lane: ChatLaneKey, action: ClaimedAction) => Promise<void>;
}

async function pump(lane: ChatLane, { store, poller, handle }: PumpParts, stop: AbortSignal): Promise<number | null> {
  const open = new WorkQueue<ClaimedAction>((action) => handle(lane, action), OPEN_MAX);
  const endAt = performance.now() + PUMP_RUN_MS;
  let checkAt = 0;
  try {
    while (!stop.aborted && performance.now() < endAt) {
      const claimed = await store.claim(lane, OPEN_MAX - open.size);
      for (const action of claimed) open.add(action);
      if (claimed.length > 0) checkAt = performance.now() + CHAT_LINGER_MS;
      await open.downTo(OPEN_MAX - 1);
      open.throwFailure();
      if (open.size === 0 && performance.now() > checkAt) {
        const nextDueInMs = await store.nextDueInMs(lane);
        if (nextDueInMs === undefined || nextDueInMs > CHAT_LINGER_MS) return nextDueInMs ?? null;
        checkAt = performance.now() + POLL_WAIT_MS;
      }
      await poller.waitForDue(lane.workspaceId, claimed.length, POLL_WAIT_MS);
    }
  } finally {
    await open.downTo(0);
  }
  open.throwFailure();
  return (await store.nextDueInMs(lane)) ?? null;
}

function createHandler(deps: Deps, store: ChatActionStore): PumpParts['handle'] {
  const { actingAs, reads, encryption, log, now, publicUrl } = deps;
  const { platform } = deps.chat;
  const parts = {
    platform,
    publicUrl,
    actingAs,
    findPerson: createChatPeople(platform, reads, now),
    sendDecision: sendDecision(deps.launch, (error, approvalId) =>
      log.warn({ err: error, approvalId }, 'a decision from a chat was not answered'),
    ),
    commitGraphs: createCommitGraphCache(),
    deploymentLogs: createDeploymentLogCache(),
  };
  const teamOf = async (lane: ChatLaneKey): Promise<ChatTeam | undefined> => {
    const found = await secretsOfWorkspace(reads.as(systemActor(lane, 'chat')), lane.workspaceId);
    if (!found?.isActive) return undefined;
    return { lane, teamId: found.teamId, botToken: openChatSecret(encryption, lane.workspaceId, found.botToken) };
  };
  const attempt = async (lane: ChatLaneKey, action: ClaimedAction): Promise<ChatFailure | undefined> => {
    const { content } = action;
    if (content.kind === 'disconnect') {
      await actingAs(systemActor(lane, 'chat'), { requestId: action.id })((tx) =>
        disconnectWorkspace(tx, lane.workspaceId, content),
      );
      return undefined;
    }
    const team = await teamOf(lane);
    return team ? performAction(parts, team, action, content) : INACTIVE;
  };
  return async (lane, action) => {
    let failure: ChatFailure | undefined;
    try {
      failure = await attempt(lane, action);
    } catch (error) {
      log.warn({ err: error, ...lane, actionId: action.id }, 'an action of a chat failed');
      failure = OWN_FAILURE;
    }
    await store.conclude(action, outcomeOf(action, failure, now()));
  };
}

const INACTIVE: ChatFailure = {
  isOk: false,
  code: 'inactive',
  reason: 'The workspace is not connected any more',
  isTransient: false,
};
const OWN_FAILURE: ChatFailure = { isOk: false, code: 'internal', reason: 'It failed on our side', isTransient: true };

function outcomeOf(
  { attempts, createdAt }: Pick<ClaimedAction, 'attempts' | 'createdAt'>,
  failure: ChatFailure | undefined,
  now: Date,
): { error?: string; retryInMs?: number } {
  if (!failure) return {};
  const waitMs = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), LONGEST_RETRY_MS);
  const retryInMs = Math.max(waitMs, failure.retryAfterMs ?? 0);
  const isOver = now.getTime() + retryInMs - Date.parse(createdAt) > GIVE_UP_MS;
  return { error: failure.reason, ...(failure.isTransient && !isOver && { retryInMs }) };
}
