import { setTimeout as sleep } from 'node:timers/promises';
import { byOrg, intentOf, isOpen, partOf } from '../../../domain/review/review-pools/pool-parts.ts';
import type { StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { CANNOT_TELL, SETTLE_MS } from '../../delivery/org-steps/begin-once.ts';
import { answered } from '../../delivery/org-steps/org-call-failed.ts';
import { move } from '../../delivery/org-steps/org-work.ts';
import { discardOrg, NOT_KNOWN } from './discard-org.ts';
import { type PoolWork, stepsOf } from './pool-work.ts';
import { findSignup } from './sign-up.ts';

/** Signups cannot be ended before they are active; so often they are looked at, all of a run together. */
const STOP_POLLS = 60;
const STOP_PAUSE_MS = 5_000;

/** Deletes all orgs of a cancelled run that were not handed over. Answers what may be left of them. */
export async function discardAll(work: PoolWork): Promise<string[]> {
  const remarks: string[] = [];
  const budget = { polls: STOP_POLLS };
  for (const steps of byOrg(await stepsOf(work))) {
    if (!steps.some(isOpen)) continue;
    const created = partOf(steps, 'create');
    const known = created ? await withSignup(work, steps, created) : steps;
    const signupId = partOf(known, 'create')?.externalId ?? null;
    const still = signupId === null ? null : await whyLeft(work, signupId, budget);
    if (still !== null) remarks.push(still);
    const left = await discardOrg(work, known, 'the run was cancelled');
    if (left !== null) remarks.push(left);
  }
  return remarks;
}

/** The steps of an org with the signup that was begun; where nobody can tell which one was, its step ends with that. */
async function withSignup(work: PoolWork, steps: readonly StepRow[], created: StepRow): Promise<readonly StepRow[]> {
  const found = await stoppable(work, created);
  if (found === null) return steps;
  const isUnknown = found === CANNOT_TELL;
  if (isUnknown) await move(work, created, { state: 'unknown', error: NOT_KNOWN });
  const known = isUnknown ? ({ state: 'unknown' } as const) : { externalId: found };
  return steps.map((step) => (step === created ? { ...step, ...known } : step));
}

/**
 * The signup of an org, found again where its answer was lost, for as long as the dev hub may not show it yet; null: there is
 * none.
 */
async function stoppable({ deps, ...work }: PoolWork, step: StepRow): Promise<string | null> {
  if (step.externalId !== null || step.state !== 'asked') return step.externalId;
  const { mark = '' } = intentOf(step);
  const { pace } = deps.flows;
  const asked = new Date(step.askedAt ?? deps.now());
  for (let polls = SETTLE_MS / STOP_PAUSE_MS; ; polls--) {
    const isSettled = polls <= 0 || deps.now().getTime() - asked.getTime() > SETTLE_MS * pace;
    const found = answered(await findSignup({ deps, ...work }, mark, asked));
    if (isSettled || (found !== null && found !== CANNOT_TELL)) return found;
    await sleep(STOP_PAUSE_MS * pace, undefined, { signal: work.signal });
  }
}

/** Waits until a signup can be deleted. Null: it can, or there is nothing to delete. */
async function whyLeft(
  { deps, org, signal }: PoolWork,
  signupId: string,
  budget: { polls: number },
): Promise<string | null> {
  for (; budget.polls > 0; budget.polls--) {
    const signup = answered(await org.calls.signup(signupId));
    if (signup?.status !== 'New' && signup?.status !== 'Creating') return null;
    await sleep(STOP_PAUSE_MS * deps.flows.pace, undefined, { signal });
  }
  return `The dev hub still makes the scratch org of ${signupId}: delete it there once it is active`;
}
