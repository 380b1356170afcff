import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  continueAsNew,
  isCancellation,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { OrgExplorerActivities } from '../../activities/org-explorer/org-explorer.activities.ts';
import type { Failed, RefreshJob } from '../../activities/org-explorer/refresh-scope.ts';
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

/** A refresh that has listed, and goes on in another run because the history of this one is long. */
interface Underway {
  job: RefreshJob;
  /** Of the next order. */
  size: number;
  counts: TroubleCounts;
}
/** Since an archive was stored. */
interface TroubleCounts {
  failures: number;
  pauses: number;
  /** Without those that earlier refreshes left out, too. */
  leftOut: number;
}

/**
 * Brings the index of an org's metadata up to date, once for all requests that came meanwhile, and completes when there
 * are none left. A refresh that failed says why in its row, and the workflow then fails.
 */
export async function orgExplorer(input: OrgExplorerInput, underway?: Underway): Promise<void> {
  let isRequested = false;
  setHandler(refreshSignal, () => {
    isRequested = true;
  });
  let outcome: Outcome = 'succeeded';
  for (let started = underway; ; started = undefined) {
    isRequested = false;
    const job = started?.job ?? (await beginRefresh(input));
    if (job) {
      const ended = await refresh(job, started);
      if (typeof ended !== 'string') return await continueAsNew<typeof orgExplorer>(input, ended);
      outcome = ended;
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof orgExplorer>(input);
    } else if (!(await condition(() => isRequested, LINGER, { summary: 'idle' }))) break;
  }
  if (outcome === 'failed')
    throw ApplicationFailure.nonRetryable('The org could not be read; its last sync says why', 'refresh_failed');
}

async function refresh(job: RefreshJob, underway: Underway | undefined): Promise<Outcome | Underway> {
  const { username } = job;
  const end = async (message: string): Promise<Outcome> => {
    setCurrentDetails(`${username}: failed: ${message}`);
    await endRefresh({ ...job, end: { status: 'failed', message } });
    return 'failed';
  };
  try {
    const result = await read(job, underway);
    if (typeof result !== 'string') return 'job' in result ? result : await end(result.message);
    if (result === 'succeeded') await endRefresh({ ...job, end: { status: 'succeeded' } });
    return result;
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return end('The workers failed again and again');
  }
}

/** Lists and retrieves; answers the failure that ended it, or what is left for another run. */
async function read(
  job: RefreshJob,
  underway: Underway | undefined,
): Promise<Exclude<Outcome, 'failed'> | Failed | Underway> {
  const isBounded = patched('bounded-refresh');
  const counts = underway?.counts ?? { failures: 0, pauses: 0, leftOut: 0 };
  const trouble = createTrouble(job, counts, isBounded);
  if (!underway) {
    const listed = await list(job, trouble);
    if (listed !== 'listed') return listed;
    if (isBounded) trouble.over();
  }
  let size = underway?.size ?? CHUNK_MAX;
  for (;;) {
    if (isBounded && workflowInfo().continueAsNewSuggested) return { job, size, counts };
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
    if (next === 'leave_out') await leaveOutNext({ ...job, id: chunk.only?.id, message: chunk.message });
  }
}

async function list(job: RefreshJob, trouble: Trouble): Promise<'listed' | 'gone' | 'moved' | Failed> {
  setCurrentDetails(`${job.username}: listing components`);
  for (;;) {
    const listed = await listComponents(job);
    if (listed.outcome !== 'failed') return listed.outcome;
    if ((await trouble.after(listed)) === 'end') return listed;
  }
}

/** Orders, waits for and stores one archive. An archive that is lost is ordered anew, without what was stored of it. */
async function retrieveChunk(job: RefreshJob, size: number): Promise<'none' | 'stored' | 'gone' | 'moved' | Failed> {
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

/** A timer takes the engine about a second, however short it is. */
const TIMER_MIN_MS = 100;
async function pause(ms: number, summary: string): Promise<void> {
  if (ms >= TIMER_MIN_MS) await sleep(ms, { summary });
}

type Trouble = ReturnType<typeof createTrouble>;

/** Counts failures in a row, and waits as they ask for. @param isBounded components that are left out count, too. */
function createTrouble(job: RefreshJob, counts: TroubleCounts, isBounded: boolean) {
  return {
    over() {
      Object.assign(counts, { failures: 0, pauses: 0, leftOut: 0 } satisfies TroubleCounts);
    },
    async after(failed: Failed) {
      const next = afterFailure(failed, { ...failed, failures: counts.failures + 1, leftOut: counts.leftOut });
      if (isBounded && next === 'leave_out' && !failed.only?.failedBefore) counts.leftOut++;
      if (next === 'retry') await pause(retryDelayMs(++counts.failures, job.pollMs), `after: ${failed.kind}`);
      if (next === 'pause') {
        if (++counts.pauses > PAUSES_MAX) return 'end';
        await noteWaiting({ ...job, message: `Waits until the org takes calls again. ${failed.message}` });
        setCurrentDetails(`${job.username}: waits until the org takes calls again`);
        await sleep(job.pauseMs, { summary: 'until the org takes calls again' });
        await noteWaiting({ ...job, message: null });
      }
      return next;
    },
  };
}
