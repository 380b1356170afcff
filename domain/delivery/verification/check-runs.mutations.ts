import { peopleBehind } from '../../identity/application-tokens/requesters.queries.ts';
import { systemActor } from '../../kernel/shared/actor.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import { isId } from '../../kernel/shared/ids.ts';
import type { VerificationCheck } from '../../projects/policies/verification-policy-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { findRun } from '../flows/flow-runs.queries.ts';
import { RUN_BROWSER_CHECK } from '../flows/flow-categories.ts';
import { acceptNewRun } from '../flows/new-runs.mutations.ts';
import { displayOf, isFinal, isSuccess } from '../flows/run-status-rules.ts';
import type { ReachedRun, ReachedStatus } from '../flows/runs.hooks.ts';
import { saysNothing } from './check-run-rules.ts';
import { isWatched, type Watched } from './verification-rules.ts';
import { findCheck, type LockedVerification, lockVerification, moveCheck } from './verifications.queries.ts';

/** In whose name runs of a verification begin: that of the service, on behalf of who deployed, and within their limits. */
export async function requesterOf(tx: Tx, { requestedBy, executionId, projectId }: LockedVerification) {
  const named = executionId !== null && isId(executionId) ? await findRun(tx, executionId) : undefined;
  const run = named?.projectId === projectId ? named : undefined;
  const people = [...(await peopleBehind(tx, requestedBy)), ...(run ? await peopleBehind(tx, run.requestedBy) : [])];
  const { projectIds } = requestedBy;
  const onBehalfOf = [...new Set(people)];
  return { ...systemActor(tx.actor, 'verification'), onBehalfOf, ...(projectIds && { projectIds }) };
}

/** Types of the runs that execute checks. */
const RUN_TYPES = ['run-apex-tests', 'verify-deployment', RUN_BROWSER_CHECK] as const;

function payloadOf(
  { timeoutMinutes: _minutes, ...check }: Exclude<VerificationCheck, Watched>,
  { repositoryIdentifier, environmentName, domain, releaseName, commitSha }: LockedVerification,
): Record<string, unknown> {
  const of = { repositoryIdentifier, environmentName };
  switch (check.type) {
    case 'command':
      return { id: RUN_TYPES[1], ...of, domain, releaseName, check: check.name };
    case 'apex-tests': {
      const { type: _type, ...tests } = check;
      return { id: RUN_TYPES[0], ...of, ...tests };
    }
    case 'browser-check': {
      const { type: _type, ...played } = check;
      if (played.path !== undefined && commitSha === null)
        throw new DomainError('invalid_transition', `The commit of ${releaseName} as it was deployed is not known`);
      const commit = played.path !== undefined && { commitId: commitSha };
      return { id: RUN_BROWSER_CHECK, ...of, domain, releaseName, ...commit, ...played };
    }
  }
}

/** Starts the run that executes a check, once; a run that cannot be is the end of the check. */
export async function startCheckRun(tx: Tx, checkId: string): Promise<void> {
  const check = await findCheck(tx, checkId);
  const found = check && (await lockVerification(tx, check.verificationId));
  if (!check || !found || found.state !== 'running' || isWatched(check.settings)) return;
  if (!(await moveCheck(tx, checkId, { state: 'running', runId: checkId }))) return;
  tx.noteDone();
  try {
    const requestedBy = await requesterOf(tx, found);
    const accepted = await acceptNewRun(tx, payloadOf(check.settings, found), { id: checkId, requestedBy });
    tx.after('acceptedRun', accepted);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const detail = `Its run could not be started: ${error.message}`;
    await moveCheck(tx, checkId, { state: 'failed', detail, isUnknown: true });
  }
}

/** Ends a check whose run has ended; any other run is none of a check. */
export async function noteRunOfCheck(
  tx: Tx,
  { id, taskType }: ReachedRun,
  { status, error, result, isRevision }: ReachedStatus,
): Promise<void> {
  if (!isFinal(status) || isRevision || !RUN_TYPES.some((type) => type === taskType)) return;
  const check = await findCheck(tx, id);
  if (!check) return;
  const detail = error ?? `The run ended as ${displayOf(status)}`;
  const isUnknown = saysNothing({ status, result }, taskType === RUN_BROWSER_CHECK);
  await moveCheck(tx, id, isSuccess(status) ? { state: 'passed', detail } : { state: 'failed', detail, isUnknown });
  tx.after('verification', { verificationId: check.verificationId });
}
