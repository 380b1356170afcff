import { createChatActionStore } from '../../domain/chat/chat-actions.queries.ts';
import { actSignal, chatLaneContract } from '../../workflows/chat/chat-lane.contract.ts';
import { defineSweep } from '../system/define-sweep.ts';

/** A lane with nobody at work whose actions are due for this long lost its signal. */
const OVERDUE_MS = 5_000;

/** Signals lanes of chat workspaces whose signal was lost. */
export const chatLanesSweep = defineSweep({
  name: 'chat-lanes',
  due: ({ system }, limit) => createChatActionStore(system).overdue(OVERDUE_MS, limit),
  key: ({ workspaceId }) => workspaceId,
  handle: ({ launch }, lane) => launch.signalWithStart(chatLaneContract, lane, actSignal),
});
