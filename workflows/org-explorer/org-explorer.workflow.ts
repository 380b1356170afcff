import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  Failed,
  OrgExplorerActivities,
  RefreshJob,
} from '../../activities/org-explorer/org-explorer.activities.ts';
import {
  afterFailure,
  CHUNK_MAX,
  grownSize,
  pollDelayMs,
  retryDelayMs,
} from '../../domain/org-explorer/retrieve-rules.ts';
import { ORG_READ, UNTIL_DONE } from '../activity-options.ts';
import { type OrgExplorerInput, refreshSignal } from './org-explorer.contract.ts';

const { beginRefresh, leaveOutNext, noteWaiting, endRefresh } = proxyActivities<OrgExplorerActivities>(UNTIL_DONE);
const { listComponents, startRetrieve, retrieveState, storeRetrieved } =
  proxyActivities<OrgExplorerActivities>(ORG_READ);

/** An org that was just read is often asked for again soon: the workflow stays for so long. */
const LINGER = '5 seconds';
/** A retrieve that takes longer is ordered anew. */
const POLLS_MAX = 130;
/** Waiting for calls of the org, a day in all by default. */
const PAUSES_MAX = 288;

type Outcome = 'succeeded' | 'failed' | 'gone' | 'moved';

/**
 * Brings the index of an org's metadata up to date, once for all requests that came meanwhile, and completes when there
 * are none left. A refresh that failed says why in its row, and the workflow then fails.
 */
export async function orgExplorer(input: OrgExplorerInput): Promise<void> {
  let isRequested = false;
  setHandler(refreshSignal, () => {
    isRequested = true;
  });
  let outcome: Outcome = 'succeeded';
  for (;;) {
    isRequested = false;
    const job = await beginRefresh(input);
    if (job) {
      outcome = await refresh(job);
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof orgExplorer>(input);
    } else if (!(await condition(() => isRequested, LINGER, { summary: 'idle' }))) break;
  }
  if (outcome === 'failed')
    throw ApplicationFailure.nonRetryable('The org could not be read; its last sync says why', 'refresh_failed');
}

async function refresh(job: RefreshJob): Promise<Outcome> {
  const { username } = job;
  const end = async (message: string): Promise<Outcome> => {
    setCurrentDetails(`${username}: failed: ${message}`);
    await endRefresh({ ...job, end: { status: 'failed', message } });
    return 'failed';
  };
  try {
    const result = await read(job);
    if (result === 'gone' || result === 'moved') return result;
    if (result !== 'succeeded') return await end(result.message);
    await endRefresh({ ...job, end: { status: 'succeeded' } });
    return 'succeeded';
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return end('The workers failed again and again');
  }
}

/** Lists and retrieves; answers the failure that ended it. */
async function read(job: RefreshJob): Promise<Exclude<Outcome, 'failed'> | Failed> {
  const { username } = job;
  const trouble = createTrouble(job);
  setCurrentDetails(`${username}: listing components`);
  for (;;) {
    const listed = await listComponents(job);
    if (listed.outcome === 'gone' || listed.outcome === 'moved') return listed.outcome;
    if (listed.outcome === 'listed') break;
    if ((await trouble.after(listed)) === 'end') return listed;
  }
  let size = CHUNK_MAX;
  for (;;) {
    const chunk = await retrieveChunk(job, size);
    if (chunk === 'none') return 'succeeded';
    if (chunk === 'gone' || chunk === 'moved') return chunk;
    if (chunk === 'stored') {
      trouble.over();
      size = grownSize(size);
      continue;
    }
    const next = await trouble.after(chunk);
    if (next === 'end') return chunk;
    if (next === 'halve') size = Math.max(1, Math.floor(chunk.members / 2));
    if (next === 'leave_out') await leaveOutNext({ ...job, message: chunk.message });
  }
}

/** Orders, waits for and stores one archive. An archive that is lost is ordered anew, without what was stored of it. */
async function retrieveChunk(job: RefreshJob, size: number): Promise<'none' | 'stored' | 'gone' | 'moved' | Failed> {
  const started = await startRetrieve({ ...job, size });
  if (started.outcome === 'failed') return started;
  if (started.outcome !== 'started') return started.outcome;
  const { retrieveId, members, due } = started;
  setCurrentDetails(`${job.username}: retrieving ${members} of ${due} components`);
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    await sleep(pollDelayMs(polls), { summary: 'until the archive is ready' });
    const state = await retrieveState({ ...job, retrieveId, members });
    if (state.outcome === 'failed') return state;
    if (state.outcome === 'gone' || state.outcome === 'moved') return state.outcome;
    if (state.outcome === 'waiting') continue;
    setCurrentDetails(`${job.username}: storing ${members} of ${due} components`);
    const stored = await storeRetrieved({ ...job, retrieveId, members });
    return stored.outcome === 'failed' ? stored : stored.outcome;
  }
  const message = 'The org did not retrieve components in time';
  return { outcome: 'failed', kind: 'timeout', code: null, message, members, isRefusedByOrg: false };
}

/** Counts failures in a row, and waits as they ask for. */
function createTrouble(job: RefreshJob) {
  let failures = 0;
  let pauses = 0;
  return {
    over() {
      failures = 0;
      pauses = 0;
    },
    async after(failed: Failed) {
      const next = afterFailure(failed, { ...failed, failures: failures + 1 });
      if (next === 'retry') await sleep(retryDelayMs(++failures), { summary: `after: ${failed.kind}` });
      if (next === 'pause') {
        if (++pauses > PAUSES_MAX) return 'end';
        await noteWaiting({ ...job, message: `Waits until the org takes calls again. ${failed.message}` });
        setCurrentDetails(`${job.username}: waits until the org takes calls again`);
        await sleep(job.pauseMs, { summary: 'until the org takes calls again' });
        await noteWaiting({ ...job, message: null });
      }
      return next;
    },
  };
}
