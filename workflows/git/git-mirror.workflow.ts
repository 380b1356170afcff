import {
  ApplicationFailure,
  condition,
  continueAsNew,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { GitActivities } from '../../activities/git/git.activities.ts';
import { GIT_WORK } from '../activity-options.ts';
import { fetchSignal, type MirrorInput } from './git-mirror.contract.ts';

const { syncMirror } = proxyActivities<GitActivities>(GIT_WORK);

/** A repository that was just fetched is often fetched again soon: the workflow stays for so long. */
const LINGER = '5 seconds';

/**
 * Brings a mirror and its facts up to date with the remote, once for all requests that came meanwhile, and completes
 * when there are none left. A remote that cannot be read is recorded, and the workflow then fails; the sweeper starts
 * it again when the next fetch is due.
 */
export async function gitMirror(input: MirrorInput): Promise<void> {
  let isRequested = false;
  setHandler(fetchSignal, () => {
    isRequested = true;
  });
  let result: Awaited<ReturnType<typeof syncMirror>>;
  do {
    isRequested = false;
    result = await syncMirror(input);
    await condition(() => isRequested, LINGER, { summary: 'idle' });
    if (isRequested && workflowInfo().continueAsNewSuggested) await continueAsNew<typeof gitMirror>(input);
  } while (isRequested);
  if (result === 'failed') {
    throw ApplicationFailure.nonRetryable('The remote could not be read; the project says why', 'remote_unreadable');
  }
}
