import { rmSync } from 'node:fs';
import type { DemoClient } from './client.ts';
import type { DemoJournal, Undo } from './journal.ts';
import { waitFor } from './wait.ts';

const ENDED_MS = 60_000;

/**
 * Removes what a run of the demo made. What has gone or ended by itself is passed over.
 * @param what `broken`: what would not work any more, such as webhooks to a receiver that has ended; `all`: what stays to
 * be looked at, too. Answers the reasons for what could not be removed.
 */
export async function removeMade(api: DemoClient, journal: DemoJournal, what: 'broken' | 'all'): Promise<string[]> {
  const failures: string[] = [];
  for (const undo of journal.made()) {
    if (what === 'broken' && undo.stays) continue;
    const failure = await undone(api, undo);
    if (failure === undefined) journal.forget(undo);
    else failures.push(failure);
  }
  return failures;
}

async function undone(api: DemoClient, undo: Undo): Promise<string | undefined> {
  if ('folder' in undo) {
    rmSync(undo.folder, { recursive: true, force: true });
    return undefined;
  }
  const request = () => api.attempt(undo.method, undo.path);
  // What a project has under way is ended first, which takes some seconds.
  let refused = await request();
  if (undo.method === 'DELETE' && refused?.status === 409) {
    const later = await waitFor(
      async () => ({ refused: await request() }),
      (answer) => answer.refused?.status !== 409,
      ENDED_MS,
    );
    if (later) ({ refused } = later);
  }
  if (refused === undefined || refused.status === 404) return undefined;
  // A run, session or assignment that has ended cannot be ended again.
  const hasEnded = undo.method === 'POST' && refused.status === 409;
  return hasEnded ? undefined : `${undo.method} ${undo.path}: ${refused.detail}`;
}
