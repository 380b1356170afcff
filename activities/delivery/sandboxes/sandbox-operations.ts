import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { planSteps, type StepRow, stepsOfRun } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { isEnded } from '../../../domain/delivery/org-steps/org-step-rules.ts';
import { stepsAfterCopy } from '../../../domain/delivery/sandboxes/post-copy.mutations.ts';
import { sandboxOfRun } from '../../../domain/delivery/sandboxes/sandbox-of-run.ts';
import {
  ACTIVATE,
  CREATE,
  DELETE,
  REFRESH,
  type SandboxAct,
} from '../../../domain/delivery/sandboxes/sandbox-rules.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { isoOf } from '../../../domain/kernel/text/date-time-rules.ts';
import type { Deps } from '../../deps.ts';
import type { FollowedOperation, Pending } from '../flows/operations.activities.ts';
import { followInOrg, isRefusal, keepLines } from '../org-steps/act-in-org.ts';
import { outcomeOfFailed } from '../org-steps/begin-once.ts';
import { beginSandbox, isDiscard } from './begin-sandbox.ts';
import { checkSandbox } from './check-sandbox.ts';
import { type FollowedCopy, followCopy } from './follow-copy.ts';
import { recordCopied, recordDeleted } from './record-sandbox.ts';
import { type CheckedSandbox, move, type SandboxWork } from './sandbox-work.ts';

const sandboxOperation = (act: SandboxAct): FollowedOperation => ({
  async advance(deps, tenant, run, signal) {
    const unit = deps.actingAs(systemActor(tenant, 'flow'));
    const steps = await plannedSteps(deps, tenant, run, act);
    if (!Array.isArray(steps)) return steps;
    const [check, change] = steps;
    const { productionUsername, sandboxName: name } = (check?.intent ?? {}) as unknown as Intent;
    const { seenAt }: FollowedCopy = change?.result ?? {};
    // Production is named by the run's first step: the records of the sandbox may change under the run.
    const aimed = {
      ...run,
      payload: { id: act, orgUsername: productionUsername },
      environmentId: null,
      startedAt: seenAt ?? run.startedAt,
    };
    return followInOrg(deps, tenant, aimed, { signal }, ({ orgId, username, calls }) => {
      const sandbox = { name, production: { id: orgId, username } };
      return advance({ deps, tenant, run, act, sandbox, calls, unit, signal }, steps);
    });
  },

  async cancel(deps, tenant, run) {
    const reads = deps.reads.as(systemActor(tenant, 'flow'));
    const [, changed] = await stepsOfRun(reads, run.id);
    return changed ? remarkOf(changed, act, isDiscard(run)) : null;
  },
});

/** What the service does with sandboxes: each is followed on one workflow until its org is registered, or removed. */
export const SANDBOX_OPERATIONS = {
  [CREATE]: sandboxOperation(CREATE),
  [REFRESH]: sandboxOperation(REFRESH),
  [ACTIVATE]: sandboxOperation(ACTIVATE),
  [DELETE]: sandboxOperation(DELETE),
};

interface Intent {
  productionUsername: string;
  sandboxName: string;
}

const VERBS: Readonly<Record<SandboxAct, string>> = {
  [CREATE]: 'Create',
  [REFRESH]: 'Refresh',
  [ACTIVATE]: 'Activate',
  [DELETE]: 'Delete',
};

/** The steps of a run, which are planned when it begins; the outcome of one whose sandbox is not found. */
async function plannedSteps(
  { actingAs, reads }: Deps,
  tenant: TenantKey,
  run: Parameters<FollowedOperation['advance']>[2],
  act: SandboxAct,
): Promise<StepRow[] | RunOutcome> {
  const actor = systemActor(tenant, 'flow');
  const before = await stepsOfRun(reads.as(actor), run.id);
  if (before.length > 0) return before;
  try {
    // In the name of whoever asked: a token with projects reaches no other orgs.
    const { name, production } = await actingAs({ ...run.requestedBy, ...tenant })((tx) => sandboxOfRun(tx, act, run));
    const verb = act === ACTIVATE && isDiscard(run) ? 'Discard' : VERBS[act];
    const names = ['Check', verb, act === DELETE ? 'Remove the record of' : 'Register'];
    const intent = { sandboxName: name, productionUsername: production.username };
    const steps = names.map((each) => ({
      name: `${each} sandbox ${name}`,
      orgId: production.id,
      intent: { ...intent },
    }));
    return await actingAs(actor)((tx) => planSteps(tx, run.id, [...steps, ...stepsAfterCopy(run.payload)]));
  } catch (error) {
    if (isRefusal(error)) return { status: 'failed', error: error.message };
    throw error;
  }
}

async function advance(work: SandboxWork, [check, change, record]: readonly StepRow[]): Promise<RunOutcome | Pending> {
  if (!check || !change || !record) throw new Error('a run that changes a sandbox has three steps');
  const failed = [check, change].find(({ state }) => state === 'failed' || state === 'unknown');
  if (failed) return outcomeOfFailed(failed);
  const checked = (await checkSandbox(work, check)).result as unknown as CheckedSandbox;
  const begun = await beginSandbox(work, change, checked);
  const followed = work.act === DELETE ? await deleted(work, begun) : await followCopy(work, begun, checked);
  if (!('step' in followed)) return followed;
  const recorded = isEnded(record.state)
    ? { step: record }
    : await (work.act === DELETE
        ? recordDeleted(work, record, checked)
        : recordCopied(work, record, followed.step, checked));
  return 'step' in recorded ? endOf(work, checked, followed.step, recorded.step) : recorded;
}

async function deleted(work: SandboxWork, step: StepRow): Promise<{ step: StepRow }> {
  return { step: step.state === 'succeeded' ? step : await move(work, step, { state: 'succeeded' }) };
}

async function endOf(
  work: SandboxWork,
  { sandboxInfoId, changesInIt }: CheckedSandbox,
  change: StepRow,
  record: StepRow,
): Promise<RunOutcome> {
  const { deps, tenant, run, sandbox } = work;
  const { copyId, status }: FollowedCopy = change.result;
  const steps = await stepsOfRun(deps.reads.as(systemActor(tenant, 'flow')), run.id);
  const kept = await keepLines(deps, tenant, run.id, steps.filter(({ endedAt }) => endedAt !== null).map(lineOf));
  const result = {
    sandboxName: sandbox.name,
    productionUsername: sandbox.production.username,
    ...(sandboxInfoId !== null && { sandboxInfoId }),
    ...(copyId !== undefined && { copyId }),
    ...(status !== undefined && { status }),
    ...(changesInIt !== undefined && { changesInIt }),
    ...record.result,
    ...kept,
  };
  return record.state === 'failed'
    ? { status: 'partial', error: record.error ?? undefined, result }
    : { status: 'succeeded', result };
}

const lineOf = ({ name, state, detail, error, endedAt }: StepRow): string =>
  [isoOf(endedAt ?? ''), `${name}:`, state, detail, error].filter(Boolean).join(' ');

/** What goes on in production when a run is cancelled: no interface ends a copying. */
function remarkOf({ name, state }: StepRow, act: SandboxAct, isDiscarded: boolean): string | null {
  if (state === 'asked') return `${name}: production did not answer whether it has begun; nothing ends it there`;
  if (state !== 'begun' || act === DELETE) return null;
  const what = isDiscarded ? 'The discarding' : 'The copying';
  return `${name}: ${what} goes on, since the platform has no way to end it. It is followed no further: register the sandbox when it is complete`;
}
