import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import { isoOf } from '../../kernel/text/date-time-rules.ts';
import { labelOfCheck } from '../../projects/policies/verification-policy-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { lockDomain } from '../release-candidates/candidate-locks.queries.ts';
import { holdByVerification } from '../release-candidates/holds/holds.mutations.ts';
import { requestCancel } from '../flows/flow-runs.mutations.ts';
import type { RunContext } from '../flows/flow-runs.queries.ts';
import { acceptNewRun } from '../flows/new-runs.mutations.ts';
import { requesterOf } from './check-runs.mutations.ts';
import { runsWaitingWith } from '../promotion/promotion.queries.ts';
import { type CheckOutcome, isCheckOpen, isWatched, nextLookAt, OPEN_STATES, overdueAt } from './verification-rules.ts';
import type { Reaction } from './verifications.entities.ts';
import {
  type CheckRow,
  checksOf,
  type LockedVerification,
  lockVerification,
  moveCheck,
  moveVerification,
  touchVerification,
} from './verifications.queries.ts';

/** What is to be looked at of a verification that goes on. */
export interface OpenVerification {
  checkIds: string[];
  /** For operators. */
  text: string;
}

/** Begins a verification, or goes on with it; undefined: it has ended, or is gone. */
export async function openVerification(tx: Tx, id: string): Promise<OpenVerification | undefined> {
  const found = await lockVerification(tx, id);
  if (!found || !OPEN_STATES.includes(found.state)) return undefined;
  if (found.state === 'pending') await moveVerification(tx, id, { state: 'running' });
  tx.noteDone();
  const checks = await checksOf(tx, id);
  const { releaseName, domain, environmentName } = found;
  const lines = checks.map(({ settings, state }) => `- ${labelOfCheck(settings)}: ${state}`);
  return {
    checkIds: checks.filter(({ state }) => isCheckOpen(state)).map((check) => check.id),
    text: [`${releaseName} (${domain}) in ${environmentName}`, ...lines].join('\n'),
  };
}

/** Notes what was found of a check. */
export async function noteCheck(tx: Tx, checkId: string, outcome: CheckOutcome | undefined): Promise<void> {
  tx.noteDone();
  await moveCheck(tx, checkId, outcome ?? { state: 'running' });
}

/** What follows a look at all checks. */
export interface Settled {
  /** When to look again, in milliseconds; null: it has ended. */
  waitMs: number | null;
  /** Runs of checks that are to be cancelled. */
  cancelled: RunContext[];
}

const LOOK_AGAIN_MS = 60 * 60_000;
const ENDED: Settled = { waitMs: null, cancelled: [] };

/** Ends a verification whose checks say so, or that something replaced; else says when to look again. */
export async function settleVerification(tx: Tx, id: string): Promise<Settled> {
  const found = await lockVerification(tx, id);
  if (!found || !OPEN_STATES.includes(found.state)) return ENDED;
  tx.noteDone();
  const begunAt = new Date(found.begunAt ?? tx.now).getTime();
  const why = whySuperseded(found);
  if (why !== undefined) return close(tx, found, { state: 'superseded', detail: why });
  const cancelled = await endOverdue(tx, id, begunAt);
  const checks = await checksOf(tx, id);
  const failures = checks.filter(({ state }) => state === 'failed');
  const known = failures.find(({ isUnknown }) => !isUnknown);
  const failed = known ?? failures[0];
  if (failed) {
    const detail = `${labelOfCheck(failed.settings)}: ${failed.detail ?? 'it failed'}`;
    return close(tx, found, { state: 'failed', detail, isUnknown: known === undefined }, cancelled);
  }
  if (checks.every(({ state }) => state === 'passed')) return close(tx, found, { state: 'verified' });
  const open = checks.filter(({ state }) => isCheckOpen(state));
  await touchVerification(tx, id);
  return { waitMs: waitMsOf(open, begunAt, tx.now.getTime()), cancelled: [] };
}

/** Why a verification says nothing any more; undefined: what it verifies is what is installed. */
const whySuperseded = ({ isReplaced, rolledBackAt }: LockedVerification): string | undefined => {
  if (isReplaced) return 'Something else was deployed';
  return rolledBackAt === null ? undefined : 'The deployment was taken back';
};

/** Ends checks that had no result in their time; answers their runs, which are to be cancelled. */
async function endOverdue(tx: Tx, id: string, begunAt: number): Promise<RunContext[]> {
  const cancelled: RunContext[] = [];
  for (const { id: checkId, settings, state, runId } of await checksOf(tx, id)) {
    if (!isCheckOpen(state) || overdueAt(settings, begunAt) > tx.now.getTime()) continue;
    // First, so that the end of its run is not taken for its result.
    const detail = 'It had no result in its time';
    if (!(await moveCheck(tx, checkId, { state: 'failed', detail, isUnknown: true }))) continue;
    const run = runId === null ? undefined : await cancelRun(tx, runId);
    if (run) cancelled.push(run);
  }
  return cancelled;
}

/** A verification whose workflow somebody ended has failed, unless it says nothing any more. */
export async function endFromOutside(tx: Tx, id: string): Promise<Settled> {
  const found = await lockVerification(tx, id);
  if (!found || !OPEN_STATES.includes(found.state)) return ENDED;
  const why = whySuperseded(found);
  if (why !== undefined) return close(tx, found, { state: 'superseded', detail: why });
  return close(tx, found, { state: 'failed', detail: 'The verification was ended from outside', isUnknown: true });
}

function waitMsOf(open: readonly CheckRow[], begunAt: number, now: number): number {
  const looks = open.map(({ settings }) =>
    isWatched(settings) ? nextLookAt(settings, begunAt, now) : overdueAt(settings, begunAt),
  );
  return Math.max(1_000, Math.min(LOOK_AGAIN_MS, ...looks.map((at) => at - now)));
}

interface Ending {
  state: 'verified' | 'failed' | 'superseded';
  detail?: string;
  /** It failed since nothing was found, instead of something bad. */
  isUnknown?: boolean;
}

/** @param ended runs of checks that are to be cancelled already. */
async function close(
  tx: Tx,
  found: LockedVerification,
  { isUnknown = false, ...ending }: Ending,
  ended: readonly RunContext[] = [],
): Promise<Settled> {
  const open = (await checksOf(tx, found.id)).filter(({ state }) => isCheckOpen(state));
  const cancelled = [...ended];
  for (const { id, runId } of open) {
    await moveCheck(tx, id, { state: 'skipped', detail: 'The verification ended before it' });
    const run = runId === null ? undefined : await cancelRun(tx, runId);
    if (run) cancelled.push(run);
  }
  await holdOrLetGo(tx, found, ending);
  const reaction = ending.state === 'failed' ? await react(tx, found, isUnknown) : undefined;
  await moveVerification(tx, found.id, { ...ending, reaction });
  await announce(tx, found, ending, reaction);
  for (const run of await runsWaitingWith(tx, found.projectId, found)) tx.after('run', run);
  return { waitMs: null, cancelled };
}

/** Before the row of the verification changes: who stores a deployment has the lock of its domain, and waits for that row. */
async function holdOrLetGo(tx: Tx, found: LockedVerification, { state, detail = 'it failed' }: Ending): Promise<void> {
  const { candidateId, contentDigest, environmentId, projectId, domain, repositoryIdentifier } = found;
  const isHeld = state === 'failed' && found.onFailure === 'hold';
  if (candidateId === null || contentDigest === null || (!isHeld && state !== 'verified')) return;
  await lockDomain(tx, projectId, domain);
  const environment = { name: found.environmentName, order: found.orchestrationOrder };
  const ended = { candidateId, contentDigest, environmentId, environment, repositoryIdentifier };
  await holdByVerification(tx, ended, isHeld ? detail : undefined);
}

async function cancelRun(tx: Tx, runId: string): Promise<RunContext | undefined> {
  try {
    return await requestCancel(tx, runId);
  } catch (error) {
    // It has ended meanwhile, or is gone.
    if (!(error instanceof DomainError)) throw error;
    return undefined;
  }
}

/** What an environment asks for once a deployment was not verified; a rollback is not rolled back. */
async function react(tx: Tx, found: LockedVerification, isUnknown: boolean): Promise<Reaction | undefined> {
  if (found.onFailure !== 'rollback') return undefined;
  if (isUnknown) return { error: 'Nothing bad was found, only no result: the deployment is not rolled back' };
  if (found.isRollback) return { error: 'The deployment was a rollback itself, and is not rolled back' };
  const { repositoryIdentifier, environmentName, domain } = found;
  const payload = { id: 'rollback-release', repositoryIdentifier, environmentName, domain };
  try {
    const accepted = await acceptNewRun(tx, payload, {
      requestedBy: await requesterOf(tx, found),
      isRefusedWhileHeld: true,
    });
    tx.after('acceptedRun', accepted);
    return { executionId: accepted.runId };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { error: `No rollback could be started: ${error.message}` };
  }
}

const WORDS = { verified: 'verified', failed: 'not verified', superseded: 'superseded before it was verified' };

async function announce(
  tx: Tx,
  found: LockedVerification,
  { state, detail = null }: { state: Ending['state']; detail?: string | null },
  reaction: Reaction | undefined,
): Promise<void> {
  const { repositoryIdentifier, domain, releaseName, environmentName, deploymentId, onFailure } = found;
  const checks = (await checksOf(tx, found.id)).map((check) => ({
    type: check.settings.type,
    name: labelOfCheck(check.settings),
    outcome: check.state,
    detail: check.detail,
  }));
  const verification = { id: found.id, state, detail, onFailure, checks, ...reaction };
  tx.audit({
    source: 'release',
    action: `release.verification_${state === 'verified' ? 'succeeded' : state}`,
    entityType: 'release_deployment',
    entityId: deploymentId,
    repositoryIdentifier,
    summary: `Deployment of ${releaseName} (${domain}) to ${environmentName}: ${WORDS[state]}`,
    after: verification,
  });
  if (state === 'superseded') return;
  emitEvent(tx, state === 'verified' ? 'deployment.verified' : 'deployment.verification_failed', {
    id: deploymentId,
    candidateId: found.candidateId,
    repositoryIdentifier,
    domain,
    releaseName,
    environmentName,
    status: found.status,
    deployedAt: isoOf(found.deployedAt),
    executionId: found.executionId,
    deployedBy: found.reportedBy.email,
    verification,
  });
}
