import { purgeChore, type Sweep } from '../kernel/system/define-sweep.ts';
import { chatLanesSweep } from './chat/chat-lanes.sweep.ts';

/** The sweeps of the area, and what removes its expired rows. */
export const sweeps: readonly Sweep[] = [chatLanesSweep, purgeChore('expired-chat-actions', 'purge_chat_actions')];
