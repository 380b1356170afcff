import { backoffMs } from '../../../domain/kernel/shared/backoff-rules.ts';
import { approvalMessage } from '../../../domain/people/chat/approval-message-rules.ts';
import {
  type ChatActionStore,
  type ChatLaneKey,
  type ClaimedAction,
  createChatActionStore,
} from '../../../domain/people/chat/chat-actions.queries.ts';
import { type ClaimedMessage, createChatMessageStore } from '../../../domain/people/chat/chat-messages.queries.ts';
import { type ChatTeam, createChatPeople } from '../../../domain/people/chat/chat-people.ts';
import type { ChatFailure } from '../../../domain/people/chat/chat-platform.port.ts';
import { openChatSecret } from '../../../domain/people/chat/chat-secrets.ts';
import { secretsOfWorkspace } from '../../../domain/people/chat/chat-workspaces.queries.ts';
import { disconnectWorkspace } from '../../../domain/people/chat/disconnect.mutations.ts';
import { shownApproval } from '../../../domain/people/chat/shown-approval.queries.ts';
import { createDeploymentLogCache } from '../../../domain/delivery/deployments/deployment-log-cache.ts';
import { createCommitGraphCache } from '../../../domain/code/git/graph/commit-graph-cache.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { sendDecision } from '../../../workflows/delivery/approvals/approval.contract.ts';
import type { ChatLane } from '../../../workflows/people/chat/chat-lane.contract.ts';
import type { Deps } from '../../deps.ts';
import { answerGivenUp, performAction } from './perform-action.ts';
import { noteVoidToken } from './void-token.ts';

/** A response can be given for half an hour; a person does not wait so long. */
const GIVE_UP_MS = 15 * 60_000;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 60_000;
/** About a day: a message that cannot be changed is not worth more. */
const CHANGE_ATTEMPTS_MAX = 1_440;

/** One kind of work of the lanes, which is in rows. */
export interface ChatQueue extends Pick<ChatActionStore, 'releaseAll' | 'nextDueInMs' | 'dueWorkspaces'> {
  /** Work that is due, held by this worker from now on. */
  claim: (lane: ChatLane, limit: number) => Promise<(() => Promise<void>)[]>;
}

/** The connected workspace of a lane; undefined when it is not connected any more. */
async function teamOf({ reads, encryption }: Deps, lane: ChatLaneKey) {
  const found = await secretsOfWorkspace(reads.as(systemActor(lane, 'chat')), lane.workspaceId);
  if (!found?.isActive) return undefined;
  const { teamId, botToken: sealedToken } = found;
  const team: ChatTeam = { lane, teamId, botToken: openChatSecret(encryption, lane.workspaceId, sealedToken) };
  return { team, place: { ...lane, botToken: sealedToken } };
}

/** Messages that no longer show what they are about. */
export function messageQueue(deps: Deps): ChatQueue {
  const store = createChatMessageStore(deps.system);
  const change = async (lane: ChatLaneKey, claimed: ClaimedMessage): Promise<ChatFailure | undefined> => {
    const found = await teamOf(deps, lane);
    if (!found) return INACTIVE;
    const reads = deps.reads.as(systemActor(lane, 'chat'));
    const approval = await shownApproval(reads, claimed.approvalId);
    if (!approval) return GONE;
    const { channel, ts } = claimed;
    const shown = approvalMessage(approval, deps.publicUrl);
    const changed = await deps.chat.platform.updateMessage(found.team.botToken, { channel, ts }, shown);
    if (changed.isOk) return undefined;
    await noteVoidToken(deps, found.place, changed);
    return changed;
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
export function actionQueue(deps: Deps): ChatQueue {
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
    const found = await teamOf(deps, lane);
    if (!found) return INACTIVE;
    const failure = await performAction(parts, found.team, action, content);
    if (failure) await noteVoidToken(deps, found.place, failure);
    return failure;
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
  const waitMs = backoffMs(attempts, FIRST_RETRY_MS, LONGEST_RETRY_MS);
  return {
    error: failure.reason,
    ...(failure.isTransient && { retryInMs: Math.max(waitMs, failure.retryAfterMs ?? 0) }),
  };
}
