import { WEBHOOKS_QUEUE } from '../../queues.contract.ts';
import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { idDate, idEnd } from '../../../domain/kernel/text/id-segment-rules.ts';
import { defineContract, defineSignal, type Launch } from '../../launch.ts';

/** The queue of what happens in one chat workspace. */
export interface ChatLane extends TenantKey {
  workspaceId: string;
}

/** There is something new to do. */
export const actSignal = defineSignal('act');

export const chatLaneContract = defineContract('chatLane', {
  taskQueue: WEBHOOKS_QUEUE,
  workflowId: ({ tenantSlug, workspaceId }) => `${tenantSlug}/chat-lane/${idEnd(workspaceId)}`,
  summary: ({ workspaceId }) =>
    `Commands, clicks and messages of the chat workspace that was connected on ${idDate(workspaceId)}`,
  searchAttributes: ({ tenantSlug, workspaceId }) => ({
    Tenant: tenantSlug,
    TaskType: 'chat-lane',
    EntityId: workspaceId,
  }),
});

/** How long a pump polls for more after it last did something: shorter than that of webhooks, as people are slower. */
export const CHAT_LINGER_MS = 5_000;
/** A lane that was signalled stays hot for longer, so that further signals within this time are not needed. */
const QUIET_MS = 3_000;

/** Signals a lane after a commit, without waiting; lost signals are recovered by the sweeper. */
export const signalChatLane = (launch: Launch, { tenantId, tenantSlug, workspaceId }: ChatLane): void =>
  launch.signalWithStartInBackground(chatLaneContract, { tenantId, tenantSlug, workspaceId }, actSignal, QUIET_MS);
