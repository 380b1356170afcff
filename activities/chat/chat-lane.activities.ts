import { activityInfo } from '@temporalio/activity';
import { approvalMessage } from '../../domain/chat/approval-message-rules.ts';
import {
  type ChatActionStore,
  type ChatLaneKey,
  type ClaimedAction,
  createChatActionStore,
} from '../../domain/chat/chat-actions.queries.ts';
import { type ClaimedMessage, createChatMessageStore } from '../../domain/chat/chat-messages.queries.ts';
import { createChatPeople, type ChatTeam } from '../../domain/chat/chat-people.ts';
import type { ChatFailure } from '../../domain/chat/chat-platform.port.ts';
import { openChatSecret } from '../../domain/chat/chat-secrets.ts';
import { secretsOfWorkspace } from '../../domain/chat/chat-workspaces.queries.ts';
import { shownApproval } from '../../domain/chat/shown-approval.queries.ts';
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
import { answerGivenUp, performAction } from './perform-action.ts';

/** Actions of one workspace that are under way at a time. */
const OPEN_MAX = 8;
const POLL_WAIT_MS = 500;
/** A pump ends after this, so that a lane which is always hot still moves between workers and continues as new. */
const PUMP_RUN_MS = 300_000;
/** A response can be given for half an hour; a person does not wait so long. */
const GIVE_UP_MS = 15 * 60_000;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 60_000;
/** About a day: a message that cannot be changed is not worth more. */
const CHANGE_ATTEMPTS_MAX = 1_440;

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

/** One kind of work of the lanes, which is in rows. */
interface Queue extends Pick<ChatActionStore, 'releaseAll' | 'nextDueInMs' | 'dueWorkspaces'> {
  /** Work that is due, held by this worker from now on. */
  claim: (lane: ChatLane, limit: number) => Promise<(() => Promise<void>)[]>;
}

async function pump(
  lane: ChatLane,
  queues: readonly Queue[],
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

/** The connected workspace of a lane; undefined when it is not connected any more. */
async function teamOf({ reads, encryption }: Deps, lane: ChatLaneKey): Promise<ChatTeam | undefined> {
  const found = await secretsOfWorkspace(reads.as(systemActor(lane, 'chat')), lane.workspaceId);
  if (!found?.isActive) return undefined;
  return { lane, teamId: found.teamId, botToken: openChatSecret(encryption, lane.workspaceId, found.botToken) };
}

/** Messages that no longer show what they are about. */
function messageQueue(deps: Deps): Queue {
  const store = createChatMessageStore(deps.system);
  const change = async (lane: ChatLaneKey, claimed: ClaimedMessage): Promise<ChatFailure | undefined> => {
    const team = await teamOf(deps, lane);
    if (!team) return INACTIVE;
    const reads = deps.reads.as(systemActor(lane, 'chat'));
    const approval = await shownApproval(reads, claimed.approvalId);
    if (!approval) return GONE;
    const { channel, ts } = claimed;
    const shown = approvalMessage(approval, deps.publicUrl);
    const changed = await deps.chat.platform.updateMessage(team.botToken, { channel, ts }, shown);
    return changed.isOk ? undefined : changed;
  };
  const handle = async (lane: ChatLaneKey, message: ClaimedMessage): Promise<void> => {
    const failure = await change(lane, message).catch((error: unknown) => {
      deps.log.warn({ err: error, ...lane }, 'a message of a chat was not changed');
      return OWN_FAILURE;
    });
    const { error, retryInMs } = outcomeOf(message.attempts, failure);
    const isOver = message.attempts >= CHANGE_ATTEMPTS_MAX;
    await store.conclude(message, {
      ...(error !== undefined && { error }),
      ...(!isOver && retryInMs !== undefined && { retryInMs }),
    });
  };
  return {
    ...store,
    claim: async (lane, limit) => (await store.claim(lane, limit)).map((message) => () => handle(lane, message)),
  };
}

/** Commands, clicks, and what the platform says of the app. */
function actionQueue(deps: Deps): Queue {
  const store = createChatActionStore(deps.system);
  const { actingAs, reads, log, now, publicUrl } = deps;
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
  const perform = async (lane: ChatLaneKey, action: ClaimedAction): Promise<ChatFailure | undefined> => {
    const { content } = action;
    if (content.kind === 'disconnect') {
      await actingAs(systemActor(lane, 'chat'), { requestId: action.id })((tx) =>
        disconnectWorkspace(tx, lane.workspaceId, content),
      );
      return undefined;
    }
    const team = await teamOf(deps, lane);
    return team ? performAction(parts, team, action, content) : INACTIVE;
  };
  const handle = async (lane: ChatLaneKey, action: ClaimedAction): Promise<void> => {
    const failure = await perform(lane, action).catch((error: unknown) => {
      log.warn({ err: error, ...lane, actionId: action.id }, 'an action of a chat failed');
      return OWN_FAILURE;
    });
    const { error, retryInMs } = outcomeOf(action.attempts, failure);
    const isOver = now().getTime() + (retryInMs ?? 0) - Date.parse(action.createdAt) > GIVE_UP_MS;
    if (isOver && retryInMs !== undefined && action.content.kind !== 'disconnect')
      await answerGivenUp(platform, action.responseUrl, action.content);
    await store.conclude(action, {
      ...(error !== undefined && { error }),
      ...(!isOver && retryInMs !== undefined && { retryInMs }),
    });
  };
  return {
    ...store,
    claim: async (lane, limit) => (await store.claim(lane, limit)).map((action) => () => handle(lane, action)),
  };
}

const INACTIVE: ChatFailure = {
  isOk: false,
  code: 'inactive',
  reason: 'The workspace is not connected any more',
  isTransient: false,
};
const GONE: ChatFailure = {
  isOk: false,
  code: 'gone',
  reason: 'The approval is no longer kept',
  isTransient: false,
};
const OWN_FAILURE: ChatFailure = { isOk: false, code: 'internal', reason: 'It failed on our side', isTransient: true };

/** How an attempt ended, and in how many ms another may be made. */
function outcomeOf(attempts: number, failure: ChatFailure | undefined): { error?: string; retryInMs?: number } {
  if (!failure) return {};
  const waitMs = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), LONGEST_RETRY_MS);
  return {
    error: failure.reason,
    ...(failure.isTransient && { retryInMs: Math.max(waitMs, failure.retryAfterMs ?? 0) }),
  };
}
