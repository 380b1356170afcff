import { isLocked, mayPass } from '../../../domain/delivery/org-packages/package-answer-rules.ts';
import {
  firstOpen,
  goesOn,
  intentOf,
  isPackageStep,
  linesOfSteps,
  notesOf,
  progressOf,
} from '../../../domain/delivery/org-packages/package-intents.ts';
import { sayLines } from '../../../domain/delivery/flows/run-progress.mutations.ts';
import { isEnded } from '../../../domain/delivery/org-steps/org-step-rules.ts';
import {
  moveStep,
  type StepMove,
  type StepRow,
  stepsOfRun,
} from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import type { CrmAnswer } from '../../../domain/orgs/crm/crm-platform.port.ts';
import type { CrmPackageRequest } from '../../../domain/orgs/crm/crm-packages.port.ts';
import type { UnitOfWork } from '../../../domain/unit-of-work.ts';
import type { Pending } from '../flows/operations.activities.ts';
import { PASSES } from '../org-steps/act-in-org.ts';
import { beginOnce, CANNOT_TELL, UnknownOutcome } from '../org-steps/begin-once.ts';
import type { OrgWork } from '../org-steps/org-work.ts';
import { answered, OrgCallFailed } from '../org-steps/org-call-failed.ts';

/** A run at work on the packages of its org. */
export interface PackageRun extends OrgWork {
  unit: UnitOfWork;
  signal: AbortSignal;
}

/** How a step is done, whether it installs or uninstalls. */
export interface PackageWork {
  /** Looks whether the org takes it now: when to look again, or why it does not. Undefined: it does. */
  ready?: (given: PackageRun, step: StepRow) => Promise<Pending | { refusal: string } | undefined>;
  /** Asks the org for it. */
  create: (given: PackageRun, step: StepRow) => Promise<CrmAnswer<{ requestId: string }>>;
  /** Texts of the org without secrets. */
  cleaned?: (given: PackageRun, step: StepRow, texts: readonly string[]) => Promise<readonly string[]>;
}

/** Pauses of a minute, for a lock of the org or an error that passes. */
const ATTEMPTS_MAX = 20;
/** Older requests of a version are not listed by orgs without end; nobody waits longer for an answer that was lost. */
const EARLIER_DAYS = 30;
const DAY_MS = 86_400_000;
/** A request that has not ended then is given up. */
const REQUEST_MAX_MS = DAY_MS;
export const LOOK_AT = 'Installed Packages in Setup';

/** The steps of a run that install or uninstall, in their order. */
export const packageStepsOf = async ({ unit, run }: Pick<PackageRun, 'unit' | 'run'>): Promise<StepRow[]> =>
  (await unit((tx) => stepsOfRun(tx, run.id))).filter(isPackageStep);

/** Takes the packages of a run, whose turn it is, on, one after the other; undefined: all of them have ended. */
export async function advancePackages(given: PackageRun, work: PackageWork): Promise<Pending | undefined> {
  const { unit, run, signal } = given;
  let steps = await packageStepsOf(given);
  for (let step = firstOpen(steps); step; step = firstOpen(steps)) {
    signal.throwIfAborted();
    const failed = steps.find(({ state }) => state === 'failed' || state === 'unknown');
    const pending = await takeOn(given, work, step, failed);
    if (pending) return { ...pending, progress: progressOf(steps) };
    steps = await packageStepsOf(given);
    const ended = steps.filter(({ id }) => id === step.id);
    await unit((tx) => sayLines(tx, run, linesOfSteps(ended)));
  }
  return undefined;
}

/** Ends the packages of a run that is cancelled; answers what goes on in the org nevertheless. */
export async function cancelPackages(given: Pick<PackageRun, 'unit' | 'run'>): Promise<string[]> {
  const remarks: string[] = [];
  for (const step of (await packageStepsOf(given)).filter(({ state }) => !isEnded(state))) {
    const isBegun = step.state !== 'planned';
    if (isBegun) remarks.push(goesOn(step));
    const change: StepMove = isBegun ? { state: 'unknown', error: goesOn(step) } : { state: 'cancelled' };
    await given.unit((tx) => moveStep(tx, step.id, change));
  }
  return remarks;
}

const move = async ({ unit }: PackageRun, { id }: StepRow, change: StepMove): Promise<undefined> => {
  await unit((tx) => moveStep(tx, id, change));
};

/** Takes a step on; undefined: it has ended. */
async function takeOn(
  given: PackageRun,
  work: PackageWork,
  step: StepRow,
  failed: StepRow | undefined,
): Promise<Pending | undefined> {
  const { skip } = intentOf(step);
  if (step.state === 'planned') {
    if (failed) return move(given, step, { state: 'cancelled', detail: `not begun: ${failed.name} did not succeed` });
    if (skip !== null) return move(given, step, { state: 'skipped', detail: skip });
    const waits = await mayBegin(given, work, step);
    if (waits !== undefined) return waits === 'ended' ? undefined : waits;
  }
  try {
    const begun = await begin(given, work, step);
    return await follow(given, work, begun);
  } catch (error) {
    if (error instanceof UnknownOutcome) return undefined;
    if (!(error instanceof OrgCallFailed) || !isRefused(error)) throw error;
    if (isLocked(error.failure)) return again(given, step, error.failure.message);
    // The row says so where the org did not take it; what it began goes on, whatever it answers now.
    const { state } = (await given.unit((tx) => stepsOfRun(tx, given.run.id))).find(({ id }) => id === step.id) ?? step;
    if (!isEnded(state)) throw error;
    return undefined;
  }
}

/** What the org does not take is no failure that is waited for. */
const isRefused = ({ failure }: OrgCallFailed): boolean => !PASSES[failure.kind] || isLocked(failure);

/** Whether the org can be asked now; when to look again, or `ended` where it will never be. */
async function mayBegin(given: PackageRun, work: PackageWork, step: StepRow): Promise<Pending | 'ended' | undefined> {
  const { org } = given;
  const ready = await work.ready?.(given, step);
  if (ready && 'refusal' in ready) {
    await move(given, step, { state: 'failed', error: ready.refusal });
    return 'ended';
  }
  if (ready) return (await again(given, step, ready.text, ready)) ?? 'ended';
  // Whatever the clocks say, only a later request can be that of this step.
  const { act, versionId } = intentOf(step);
  const since = new Date(given.deps.now().getTime() - EARLIER_DAYS * DAY_MS).toISOString();
  const earlier = answered(await org.calls.packageRequests({ act, versionId, since })).map(({ id }) => id);
  await move(given, step, { result: { ...notesOf(step), earlier } });
  return undefined;
}

async function begin(given: PackageRun, work: PackageWork, step: StepRow): Promise<StepRow> {
  const { deps, tenant, org } = given;
  const { act, versionId } = intentOf(step);
  return beginOnce(deps, tenant, step, {
    async create() {
      const made = await work.create(given, step);
      if (made.isOk) return { isOk: true, value: made.value.requestId };
      // Refused for now: it is planned again.
      return isLocked(made) ? { ...made, kind: 'limited' } : made;
    },
    async find(askedAt) {
      const identity = await org.calls.identity();
      if (!identity.isOk) return identity;
      const since = new Date(askedAt.getTime() - DAY_MS).toISOString();
      const { userId } = identity.value;
      const found = await org.calls.packageRequests({ act, versionId, userId, since });
      if (!found.isOk) return found;
      const fresh = await given.unit((tx) => stepsOfRun(tx, given.run.id));
      const earlier = new Set(notesOf(fresh.find(({ id }) => id === step.id) ?? step).earlier);
      const own = found.value.filter(({ id }) => !earlier.has(id));
      return { isOk: true, value: own.length > 1 ? CANNOT_TELL : (own[0]?.id ?? null) };
    },
    lookAt: LOOK_AT,
  });
}

/** Asks what became of a request. */
async function follow(given: PackageRun, work: PackageWork, step: StepRow): Promise<Pending | undefined> {
  const answer = await given.org.calls.packageRequest(step.externalId ?? '');
  if (!answer.isOk && answer.kind === 'not_found')
    return move(given, step, { state: 'unknown', error: answer.message });
  const request = answered(answer);
  const ageMs = given.deps.now().getTime() - new Date(step.askedAt ?? given.deps.now()).getTime();
  switch (request.state) {
    case 'succeeded':
      return move(given, step, { state: 'succeeded', detail: null });
    case 'failed':
      return failedRequest(given, work, step, request);
    case 'running': {
      if (ageMs > REQUEST_MAX_MS)
        return move(given, step, { state: 'unknown', error: `it still goes on after a day (${request.status})` });
      await move(given, step, { state: 'begun', detail: request.status });
      return { againInSeconds: ageMs < 120_000 ? 10 : 30, text: step.name };
    }
  }
}

async function failedRequest(
  given: PackageRun,
  work: PackageWork,
  step: StepRow,
  { errors }: CrmPackageRequest,
): Promise<Pending | undefined> {
  const error = ((await work.cleaned?.(given, step, errors)) ?? errors).join('; ') || 'the org gave no reason';
  return mayPass(errors) ? again(given, step, error) : move(given, step, { state: 'failed', error });
}

/** Plans a step anew, which the org did not take for a reason that passes; undefined: it was tried often enough. */
async function again(
  given: PackageRun,
  step: StepRow,
  reason: string,
  pending: Pending = { againInSeconds: 60, text: `${step.name}, again in a minute: ${reason}` },
): Promise<Pending | undefined> {
  const attempts = (notesOf(step).attempts ?? 0) + 1;
  if (attempts >= ATTEMPTS_MAX) return move(given, step, { state: 'failed', error: reason });
  await move(given, step, { state: 'planned', detail: reason, result: { ...notesOf(step), attempts } });
  return pending;
}
