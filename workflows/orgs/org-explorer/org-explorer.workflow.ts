import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { OrgExplorerActivities } from '../../../activities/orgs/org-explorer/org-explorer.activities.ts';
import type { Failed, RefreshJob } from '../../../activities/orgs/org-explorer/refresh-scope.ts';
import { CHUNK_MAX, grownSize } from '../../../domain/orgs/org-explorer/retrieve-rules.ts';
import { ORG_READ, UNTIL_DONE } from '../../activity-options.ts';
import { type OrgExplorerInput, refreshSignal } from './org-explorer.contract.ts';
import { createTrouble, NO_TROUBLE, type Trouble, type TroubleCounts } from './refresh-trouble.ts';
import { retrieveChunk } from './retrieve-chunk.ts';

const { beginRefresh, leaveOutNext, endRefresh } = proxyActivities<OrgExplorerActivities>(UNTIL_DONE);
const { listComponents } = proxyActivities<OrgExplorerActivities>(ORG_READ);

/** An org that was just read is often asked for again soon: the workflow stays for so long. */
const LINGER = '5 seconds';

type Read = 'succeeded' | 'gone' | 'moved';
type Outcome = Read | { failure: string };

/** A refresh that has listed, and goes on in another run because the history of this one is long. */
interface Underway {
  job: RefreshJob;
  /** Components of the next order. */
  size: number;
  counts: TroubleCounts;
}

/**
 * Brings the index of an org's metadata up to date, once for all requests that came meanwhile, and completes when there
 * are none left. A refresh that failed says why in its row, and the workflow then fails with the same reason.
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
      if (typeof ended !== 'string' && 'job' in ended) return await continueAsNew<typeof orgExplorer>(input, ended);
      outcome = ended;
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof orgExplorer>(input);
    } else if (!(await condition(() => isRequested, LINGER, { summary: 'idle' }))) break;
  }
  if (typeof outcome !== 'string') throw ApplicationFailure.nonRetryable(outcome.failure, 'refresh_failed');
}

async function refresh(job: RefreshJob, underway: Underway | undefined): Promise<Outcome | Underway> {
  const { username } = job;
  const end = async (message: string): Promise<{ failure: string }> => {
    setCurrentDetails(`${username}: failed: ${message}`);
    await endRefresh({ ...job, end: { status: 'failed', message } });
    return { failure: message };
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
async function read(job: RefreshJob, underway: Underway | undefined): Promise<Read | Failed | Underway> {
  const counts = underway?.counts ?? { ...NO_TROUBLE };
  const trouble = createTrouble(job, counts);
  if (!underway) {
    const listed = await list(job, trouble);
    if (listed !== 'listed') return listed;
    trouble.over();
  }
  let size = underway?.size ?? CHUNK_MAX;
  for (;;) {
    if (workflowInfo().continueAsNewSuggested) return { job, size, counts };
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
