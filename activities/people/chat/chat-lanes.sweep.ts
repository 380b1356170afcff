import { createChatActionStore } from '../../../domain/people/chat/chat-actions.queries.ts';
import { createChatMessageStore } from '../../../domain/people/chat/chat-messages.queries.ts';
import { actSignal, chatLaneContract } from '../../../workflows/people/chat/chat-lane.contract.ts';
import { defineSweep } from '../../kernel/system/define-sweep.ts';

/** A lane with nobody at work whose actions are due for this long lost its signal. */
const OVERDUE_MS = 5_000;

/** Signals lanes of chat workspaces whose signal was lost. */
export const chatLanesSweep = defineSweep({
  name: 'chat-lanes',
  async due({ system }, limit) {
    const [acted, changed] = await Promise.all([
      createChatActionStore(system).overdue(OVERDUE_MS, limit),
      createChatMessageStore(system).overdue(OVERDUE_MS, limit),
    ]);
    return [...new Map([...acted, ...changed].map((lane) => [lane.workspaceId, lane])).values()];
  },
  key: ({ workspaceId }) => workspaceId,
  handle: ({ launch }, lane) => launch.signalWithStart(chatLaneContract, lane, actSignal),
});
