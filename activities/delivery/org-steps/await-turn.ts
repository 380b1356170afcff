import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { noteWaitAtWork, type RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { type Passage, passageOf } from '../../../domain/delivery/flows/promoted-runs.ts';
import { currentGates } from '../../../domain/delivery/flows/run-begins.mutations.ts';
import { whyOtherOrg } from '../../../domain/delivery/org-steps/org-of-run.ts';
import { stepsOfRun } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { takeTurn, turnOf } from '../../../domain/delivery/org-steps/org-turns.queries.ts';
import type { Tx } from '../../../domain/unit-of-work.ts';
import type { Pending } from '../flows/operations.activities.ts';
import { inUnit, type OrgWork } from './org-work.ts';

const AGAIN_SECONDS = 15;
const WINDOW_SECONDS = 60;

/**
 * Takes the turn of a run to change its org, which it keeps until it ends; or says when to ask again, or how the run ends. The
 * platform runs one deployment at a time, which installs of packages compete with.
 * @param what goes on in the org, for people: `the run deploys`.
 */
export const awaitTurn = (work: OrgWork, what: string): Promise<Pending | RunOutcome | undefined> =>
  inUnit(work, async (tx) => {
    const { run, org } = work;
    // The turn in the org where its steps are stays its own: something may go on there.
    const elsewhere = await whyOtherOrg(tx, org, await stepsOfRun(tx, run.id), what);
    if (elsewhere !== null) return { status: 'failed', error: elsewhere };
    const turn = await turnOf(tx, run.id);
    if (turn?.orgId === org.orgId && turn.beganAt !== null) return undefined;
    const { refusal, waiting } = await passageNow(work, tx);
    if (refusal) return refusal;
    if (waiting) return waitFor(tx, run, waiting.reason, WINDOW_SECONDS);
    const before = await takeTurn(tx, { orgId: org.orgId, runId: run.id });
    if (before) return waitFor(tx, run, reasonOf(run, before), AGAIN_SECONDS);
    await noteWaitAtWork(tx, run.id, null);
    return undefined;
  });

/**
 * Whether the environments of a run still let it go. They were asked before it began; a window may have closed, or its release
 * been aborted, while others had their turn.
 */
async function passageNow({ deps, run }: OrgWork, tx: Tx): Promise<Passage> {
  const current = await currentGates(tx, run, deps.flows.commands);
  return current?.hasWindows ? passageOf(tx, run, current.gates.environmentIds) : {};
}

async function waitFor(tx: Tx, { id }: RunContext, text: string, againInSeconds: number): Promise<Pending> {
  await noteWaitAtWork(tx, id, text);
  return { againInSeconds, text };
}

/** Who reads of this run may not read of one of another project. */
const reasonOf = (
  { projectId }: RunContext,
  before: { runId: string; taskType: string; projectId: string | null },
): string =>
  before.projectId === projectId
    ? `Waits for run ${before.runId} (${before.taskType}) in the same org`
    : 'Waits for a run of another project in the same org';
