import { DomainError } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { findRun } from '../flows/flow-runs.queries.ts';
import { acceptNewRun } from '../flows/new-runs.mutations.ts';
import { parsePayload } from '../flows/parse-payload.ts';
import { displayOf, isFinal, isSuccess } from '../flows/run-status-rules.ts';
import type { ReachedRun, ReachedStatus } from '../flows/runs.hooks.ts';
import { moveStep, type NewStep, type StepRow, stepsOfRun } from '../org-steps/org-steps.queries.ts';
import { isSandboxType } from './sandbox-rules.ts';

type Payload = Readonly<Record<string, unknown>>;

/** What follows a copying, as its run's payload has it. */
const followUpsOf = ({ postCopy }: Payload): Payload[] => (Array.isArray(postCopy) ? (postCopy as Payload[]) : []);

/** Why what is to follow a copying cannot be started as it is asked for; null: it can. Throws `invalid_request`. */
export function whyNoPostCopy(payload: Payload): string | null {
  for (const [index, given] of followUpsOf(payload).entries()) {
    const { type } = parsePayload(given, `payload/postCopy/${index}/`);
    if (isSandboxType(type.id)) return `postCopy takes no ${type.id}: it changes sandboxes itself`;
  }
  return null;
}

/** The steps of a run that stand for the runs which follow it. */
export const stepsAfterCopy = (payload: Payload): NewStep[] =>
  followUpsOf(payload).map((given, index) => ({
    name: `Follow-up ${index + 1}: ${String(given.id)}`,
    orgId: null,
    intent: { payload: given },
  }));

const isFollowUp = ({ intent, state }: StepRow): boolean => state === 'planned' && 'payload' in intent;

/**
 * Starts what follows a copying, one run after another: each when the one before has ended well, the first when the copying
 * has. It begins when the run of the copying has ended, since that holds the locks which it may need.
 */
export async function followPostCopy(
  tx: Tx,
  { id, taskType, payload }: ReachedRun,
  { status, isRevision }: ReachedStatus,
): Promise<void> {
  if (!isFinal(status) || isRevision) return;
  if (isSandboxType(taskType) && followUpsOf(payload).length > 0)
    return isSuccess(status) ? startNext(tx, id) : skipRest(tx, id, 'The copying did not succeed');
  if (typeof payload.postCopyOf !== 'string') return;
  // A run that follows a copying has the id of its step; any payload may say that it does.
  const end = `The run ended as ${displayOf(status)}`;
  const step = await moveStep(tx, id, isSuccess(status) ? { state: 'succeeded' } : { state: 'failed', error: end });
  if (step) await (isSuccess(status) ? startNext(tx, step.runId) : skipRest(tx, step.runId, 'One before it failed'));
}

async function startNext(tx: Tx, runId: string): Promise<void> {
  const steps = await stepsOfRun(tx, runId);
  const next = steps.find(isFollowUp);
  const run = next && (await findRun(tx, runId));
  if (!run) return;
  const registered = steps.find(({ result }) => typeof result.orgUsername === 'string');
  if (!registered) return skipRest(tx, runId, 'There is no org before the sandbox is activated');
  const given = next.intent.payload as Payload;
  const { repositoryIdentifier } = run;
  const payload = {
    ...(repositoryIdentifier !== null && { repositoryIdentifier }),
    orgUsername: registered.result.orgUsername,
    ...given,
    postCopyOf: runId,
  };
  try {
    const { requestedBy, triggeredBy, requestId } = run;
    const accepted = await acceptNewRun(tx, payload, {
      id: next.id,
      requestedBy,
      triggeredBy,
      ...(requestId !== null && { requestId }),
    });
    await moveStep(tx, next.id, { state: 'begun', externalId: accepted.runId });
    tx.after('acceptedRun', accepted);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    await moveStep(tx, next.id, { state: 'failed', error: error.message });
    await skipRest(tx, runId, 'One before it failed');
  }
}

async function skipRest(tx: Tx, runId: string, detail: string): Promise<void> {
  for (const step of (await stepsOfRun(tx, runId)).filter(isFollowUp))
    await moveStep(tx, step.id, { state: 'skipped', detail });
}
