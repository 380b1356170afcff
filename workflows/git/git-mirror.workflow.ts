import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { GitActivities } from '../../activities/git/git.activities.ts';
import { GIT_WORK } from '../activity-options.ts';
import { FETCH_SIGNAL, type MirrorInput } from './git-mirror.contract.ts';

const fetch = defineSignal(FETCH_SIGNAL);
const { syncMirror } = proxyActivities<GitActivities>(GIT_WORK);

/** A repository at which somebody works is fetched again soon: it stays for so long. */
const LINGER = '5 seconds';

/**
 * Brings a mirror and its facts up to the remote, once for all the asks that came meanwhile, and completes when nobody
 * asks any more. A remote that cannot be read is noted; the schedule tries it again.
 */
export async function gitMirror(input: MirrorInput): Promise<void> {
  let isAsked = false;
  setHandler(fetch, () => {
    isAsked = true;
  });
  do {
    isAsked = false;
    await syncMirror(input);
    await condition(() => isAsked, LINGER);
    if (isAsked && workflowInfo().continueAsNewSuggested) await continueAsNew<typeof gitMirror>(input);
  } while (isAsked);
}
