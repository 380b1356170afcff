import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isLoopbackHost } from '../../domain/kernel/outbound/host-rules.ts';
import { showChat } from './chat.ts';
import type { DemoClient } from './client.ts';
import { showReviews } from './reviews.ts';
import { showWorkItems } from './work-items.ts';

export type Say = (text: string) => void;

/** What the scenes of collaboration have in common. */
export interface CollaborationPlace {
  api: DemoClient;
  /** Base URL of the service. */
  url: string;
  /** End of the names of what the scenes make. */
  suffix: string;
  say: Say;
}

const SIMULATORS = fileURLToPath(new URL('../../test/simulators/', import.meta.url));
/** Each shows one thing, on simulators that it starts and stops. */
const SCENES: readonly ((place: CollaborationPlace) => Promise<void>)[] = [showWorkItems, showChat, showReviews];

/** Shows how people work with the service where they are: in work items, in chat and in pull requests. */
export async function showCollaboration(
  api: DemoClient,
  { url, suffix }: { url: string; suffix: string },
  say: Say,
): Promise<void> {
  if (!isLoopbackHost(new URL(url).hostname)) {
    say('not shown: trackers and hosts would be simulated on this machine, which the service is not on');
    return;
  }
  if (!existsSync(SIMULATORS)) {
    say('not shown: the simulators of trackers and hosts are part of the repository, not of the image');
    return;
  }
  for (const show of SCENES) await show({ api, url, suffix, say });
}
