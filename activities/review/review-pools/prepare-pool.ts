import { setTimeout as sleep } from 'node:timers/promises';
import { POOL_PREPARE } from '../../../domain/delivery/flows/flow-types.ts';
import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { planSteps, type StepRow, stepsOfRun } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { failureText } from '../../../domain/orgs/crm-orgs/tokens/org-failure-rules.ts';
import {
  byOrg,
  hasFailed,
  intentOf,
  isOpen,
  outcomeOfPool,
  partOf,
  registeredOf,
} from '../../../domain/review/review-pools/pool-parts.ts';
import { type PreparedPool, preparedPool } from '../../../domain/review/review-pools/prepared-pools.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { isoOf } from '../../../domain/kernel/text/date-time-rules.ts';
import type { Deps } from '../../deps.ts';
import { createChildActivities } from '../../delivery/flows/children.activities.ts';
import type { FollowedOperation, Pending } from '../../delivery/flows/operations.activities.ts';
import { type ActedOrg, followInOrg, isRefusal, keepLines, PASSES } from '../../delivery/org-steps/act-in-org.ts';
import { AskedTooSoon, UnknownOutcome } from '../../delivery/org-steps/begin-once.ts';
import { withLeftOpen } from '../../delivery/org-steps/left-open.ts';
import { OrgCallFailed } from '../../delivery/org-steps/org-call-failed.ts';
import { inUnit, move } from '../../delivery/org-steps/org-work.ts';
import { discardAll } from './discard-all.ts';
import { discardOrg, retireOrg } from './discard-org.ts';
import { assignPermissionSets, deploySettings, followPart, handOver } from './furnish-org.ts';
import { planPool } from './plan-pool.ts';
import { type PartNext, type PoolWork, stepsOf } from './pool-work.ts';
import { createScratchOrg, LOOK_AT, registerMadeSandbox, registerScratchOrg } from './sign-up.ts';

/** A part that its org does not let happen in this time has failed. */
const PART_MAX_MS = 4 * 3_600_000;
/** For three minutes a dev hub that is away is asked to delete what a cancelled run has made. */
const CANCEL_TRIES = 18;
const CANCEL_PAUSE_MS = 10_000;

/** Makes the scratch orgs that a review pool lacks, furnishes them, and hands them over to it. */
export const preparePool: FollowedOperation = {
  advance: (deps, tenant, run, signal) => inHub(deps, tenant, run, signal, advance),

  async cancel(deps, tenant, run, signal) {
    const open = (await stepsOfRun(deps.reads.as(systemActor(tenant, 'flow')), run.id)).filter(isOpen);
    if (open.length === 0) return null;
    await createChildActivities(deps).cancelChildren({ ...tenant, runId: run.id });
    for (let tries = 0; tries < CANCEL_TRIES; tries++) {
      const outcome = await inHub(deps, tenant, run, signal, async (work) => {
        const remarks = await discardAll(work);
        return { status: 'cancelled', ...(remarks.length > 0 && { error: remarks.join('; ') }) };
      });
      if (!('againInSeconds' in outcome)) return outcome.error ?? null;
      await sleep(CANCEL_PAUSE_MS * deps.flows.pace, undefined, { signal });
    }
    return `Scratch orgs of the run may be left: the dev hub could not be reached, look at ${LOOK_AT}`;
  },
};

async function inHub(
  deps: Deps,
  tenant: TenantKey,
  run: RunContext,
  signal: AbortSignal,
  work: (given: PoolWork) => Promise<RunOutcome | Pending>,
): Promise<RunOutcome | Pending> {
  const begun = (await stepsOfRun(deps.reads.as(systemActor(tenant, 'flow')), run.id)).find(
    ({ orgId }) => orgId !== null,
  );
  let prepared: PreparedPool;
  try {
    // In the name of whoever asked: a token with projects reaches no other orgs.
    prepared = await deps.actingAs({ ...run.requestedBy, ...tenant })((tx) =>
      preparedPool(tx, run.payload, run.projectId, begun?.orgId ?? undefined),
    );
  } catch (error) {
    if (isRefusal(error)) return withLeftOpen(deps, tenant, run, { status: 'failed', error: error.message }, LOOK_AT);
    throw error;
  }
  const { pool, recipe, hub } = prepared;
  const aimed = { ...run, payload: { id: POOL_PREPARE, orgUsername: hub.username }, environmentId: null };
  return followInOrg(deps, tenant, aimed, { signal, lookAt: LOOK_AT }, (org: ActedOrg) =>
    work({ deps, tenant, run, org, pool, recipe, signal }),
  );
}

async function advance(work: PoolWork): Promise<RunOutcome | Pending> {
  let steps = await stepsOf(work);
  if (steps.length === 0) {
    const planned = await planPool(work);
    steps = await inUnit(work, (tx) => planSteps(tx, work.run.id, planned));
  }
  const pending: Pending[] = [];
  for (const { 0: first } of byOrg(steps)) {
    if (!first) continue;
    const next = await takeOn(work, intentOf(first).org);
    if (!next) continue;
    pending.push(next);
    // What a new org takes the place of goes first.
    if (intentOf(first).part === 'retire') break;
  }
  steps = await stepsOf(work);
  const [soonest] = pending.toSorted((one, other) => one.againInSeconds - other.againInSeconds);
  if (soonest) {
    const ended = steps.filter((step) => !isOpen(step)).length;
    return { ...soonest, progress: { percent: (100 * ended) / steps.length, counts: { steps: steps.length, ended } } };
  }
  const outcome = outcomeOfPool(steps);
  const kept = await keepLines(work.deps, work.tenant, work.run.id, steps.map(lineOf));
  const result = { poolTag: work.pool.tag, devHub: work.org.username, ...outcome.result, ...kept };
  return { ...outcome, result };
}

const lineOf = ({ name, state, detail, error, endedAt }: StepRow): string =>
  [endedAt === null ? '' : isoOf(endedAt), `${name}:`, state, detail, error].filter(Boolean).join(' ');

/** Takes the parts of one org on, one after another; undefined: they have ended. */
async function takeOn(work: PoolWork, org: string): Promise<PartNext> {
  for (;;) {
    work.signal.throwIfAborted();
    const all = await stepsOf(work);
    const steps = byOrg(all).find(([first]) => first && intentOf(first).org === org) ?? [];
    const step = steps.find(isOpen);
    if (!step) return undefined;
    const failed = steps.find(hasFailed);
    if (failed) await discardOrg(work, steps, `${failed.name}: ${failed.error ?? 'it failed'}`);
    // Each signup counts against the limits of the dev hub, also one that fails as another has.
    else if (step.state === 'planned' && BEGINNINGS.has(intentOf(step).part) && all.some(isNotMade))
      await discardOrg(work, steps, 'another org could not be made');
    else {
      const next = await part(work, steps, step);
      if (next) return next;
    }
  }
}

/** An org that could not be deleted says nothing of those that are to be made. */
const isNotMade = (step: StepRow): boolean => hasFailed(step) && intentOf(step).part !== 'retire';

const BEGINNINGS: ReadonlySet<string> = new Set(['create', 'sandbox']);

async function part(work: PoolWork, steps: readonly StepRow[], step: StepRow): Promise<PartNext> {
  try {
    return await act(work, steps, step);
  } catch (error) {
    if (error instanceof AskedTooSoon) return error.pending;
    if (error instanceof UnknownOutcome) return undefined;
    if (isRefusal(error)) {
      // Behind its last part an org has no open step, by which it would be deleted.
      if (intentOf(step).part === 'finish')
        await discardOrg(work, steps, `${step.name}: ${error.message}`, { step, error: error.message });
      else await move(work, step, { state: 'failed', error: error.message });
      return undefined;
    }
    if (!(error instanceof OrgCallFailed)) throw error;
    return notDone(work, step, error);
  }
}

/** A call failed: of the dev hub, for whose return the run waits, or of the org, which is given up in time. */
async function notDone(work: PoolWork, step: StepRow, failed: OrgCallFailed): Promise<PartNext> {
  const { failure } = failed;
  const now = (await stepsOf(work)).find(({ id }) => id === step.id);
  if (now && !isOpen(now)) return undefined;
  const isOfHub = ['retire', 'create', 'register'].includes(intentOf(step).part);
  if (isOfHub && (PASSES[failure.kind] || failure.kind === 'auth_failed')) throw failed;
  const ageMs = work.deps.now().getTime() - Date.parse(step.updatedAt);
  if (PASSES[failure.kind] && ageMs < PART_MAX_MS)
    return { againInSeconds: failure.kind === 'limited' ? 300 : 30, text: failureText(step.name, failure) };
  const state = now?.state === 'asked' ? 'unknown' : 'failed';
  await move(work, step, { state, error: failureText(step.name, failure) });
  return undefined;
}

function act(work: PoolWork, steps: readonly StepRow[], step: StepRow): Promise<PartNext> {
  const { part: kind } = intentOf(step);
  if (kind === 'retire') return retireOrg(work, step);
  if (kind === 'create') return createScratchOrg(work, step);
  if (kind === 'sandbox') return followPart(work, step, kind, undefined);
  const created = partOf(steps, 'create') ?? partOf(steps, 'sandbox');
  if (kind === 'register') {
    if (!created) throw new Error(`the step ${step.name} has no org`);
    return intentOf(created).part === 'sandbox'
      ? registerMadeSandbox(work, step, created)
      : registerScratchOrg(work, step, created);
  }
  const made = registeredOf(steps);
  if (!made) throw new Error(`the step ${step.name} comes before its org is registered`);
  switch (kind) {
    case 'settings':
      return deploySettings(work, step, made);
    case 'packages':
    case 'source':
    case 'command':
      return followPart(work, step, kind, made);
    case 'permissions':
      return assignPermissionSets(work, step, made);
    case 'finish':
      return handOver(work, step, made);
  }
}
