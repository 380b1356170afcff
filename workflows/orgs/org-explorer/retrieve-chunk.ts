import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { OrgExplorerActivities } from '../../../activities/orgs/org-explorer/org-explorer.activities.ts';
import type { Failed, RefreshJob } from '../../../activities/orgs/org-explorer/refresh-scope.ts';
import { pollDelayMs } from '../../../domain/orgs/org-explorer/retrieve-rules.ts';
import { ORG_READ } from '../../activity-options.ts';
import { pause } from './refresh-trouble.ts';

const { startRetrieve, retrieveState, storeRetrieved } = proxyActivities<OrgExplorerActivities>(ORG_READ);

/** A retrieve that takes longer is ordered anew. */
const POLLS_MAX = 130;

/** Orders, waits for and stores one archive. An archive that is lost is ordered anew, without what was stored of it. */
export async function retrieveChunk(
  job: RefreshJob,
  size: number,
): Promise<'none' | 'stored' | 'gone' | 'moved' | Failed> {
  const started = await startRetrieve({ ...job, size });
  if (started.outcome === 'failed') return started;
  if (started.outcome !== 'started') return started.outcome;
  const { retrieveId, members, due, only } = started;
  setCurrentDetails(`${job.username}: retrieving ${members} of ${due} components`);
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    await pause(pollDelayMs(polls, job.pollMs), 'until the archive is ready');
    const state = await retrieveState({ ...job, retrieveId, members });
    if (state.outcome === 'failed') return { ...state, only };
    if (state.outcome === 'gone' || state.outcome === 'moved') return state.outcome;
    if (state.outcome === 'waiting') continue;
    setCurrentDetails(`${job.username}: storing ${members} of ${due} components`);
    const stored = await storeRetrieved({ ...job, retrieveId, members });
    return stored.outcome === 'failed' ? { ...stored, only } : stored.outcome;
  }
  const message = 'The org did not retrieve components in time';
  return { outcome: 'failed', kind: 'timeout', code: null, message, members, isRefusedByOrg: false };
}
