import type { StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { ACTIVATE, copyText, lookAgainIn } from '../../../domain/delivery/sandboxes/sandbox-rules.ts';
import { longId } from '../../../domain/orgs/crm/org-id-rules.ts';
import type { SandboxCopy } from '../../../domain/orgs/crm/crm-sandboxes.port.ts';
import type { Pending } from '../flows/operations.activities.ts';
import { answered } from '../org-steps/org-call-failed.ts';
import { isDiscard } from './begin-sandbox.ts';
import { cannotGo, type CheckedSandbox, move, type SandboxWork } from './sandbox-work.ts';

/** What the step of a copying keeps of it. */
export interface FollowedCopy {
  /** Once production shows it. */
  copyId?: string;
  /** When production last answered; ISO 8601. */
  seenAt?: string;
  /** Its org, 18 characters; once it is complete. */
  platformOrgId?: string;
  /** The platform's word at its end: `Pending Activation`. */
  status?: string;
}

/** A copying that does not appear in this time was not begun. */
const APPEARS_WITHIN_MS = 3_600_000;
const SOON_S = 30;

/** Looks how far a copying is; answers the step once it has ended. Throws a `DomainError` where it broke off. */
export async function followCopy(
  work: SandboxWork,
  step: StepRow,
  checked: CheckedSandbox,
): Promise<{ step: StepRow } | Pending> {
  if (step.state === 'succeeded') return { step };
  const now = work.deps.now();
  const before: FollowedCopy = { ...step.result, seenAt: now.toISOString() };
  const copy = await copyOfStep(work, step, checked);
  if (!copy) return notThereYet(work, step, now);
  if (copy.stage === 'void' && !isDiscard(work.run)) return broken(work, step, copy);
  if (!hasEnded(work, copy, checked)) {
    const detail = copyText(copy, checked.usualMinutes, now);
    const progress = copy.progress === null ? {} : { percent: copy.progress };
    await move(work, step, { externalId: copy.id, detail, progress, result: { ...before, copyId: copy.id } });
    return {
      againInSeconds: lookAgainIn(copy, checked.usualMinutes, now),
      text: `${step.name}: ${detail}`,
      atStep: step.name,
      progress,
    };
  }
  const ended = await move(work, step, {
    state: 'succeeded',
    externalId: copy.id,
    detail: copy.status,
    progress: { percent: 100 },
    result: {
      ...before,
      copyId: copy.id,
      status: copy.status,
      ...(copy.stage === 'completed' && copy.orgId !== null && { platformOrgId: longId(copy.orgId) }),
    },
  });
  return { step: ended };
}

/** By its id, once that is known: there is one row for each copying, and others may come. */
async function copyOfStep({ act, calls, sandbox: { name } }: SandboxWork, step: StepRow, checked: CheckedSandbox) {
  const { copyId }: FollowedCopy = act === ACTIVATE ? { copyId: step.externalId ?? '' } : step.result;
  if (copyId !== undefined) return answered(await calls.sandboxCopies({ id: copyId }))[0];
  const [newest] = answered(await calls.sandboxCopies({ name }));
  return newest && newest.id !== checked.lastCopyId ? newest : undefined;
}

function hasEnded({ act, run }: SandboxWork, { stage }: SandboxCopy, { definition }: CheckedSandbox): boolean {
  if (isDiscard(run)) return stage === 'void';
  const isToWait = act !== ACTIVATE && definition.isAutoActivated === false;
  return stage === 'completed' || (stage === 'pending_activation' && isToWait);
}

async function notThereYet(work: SandboxWork, step: StepRow, now: Date): Promise<Pending> {
  const { name } = work.sandbox;
  if (now.getTime() - Date.parse(step.askedAt ?? now.toISOString()) < APPEARS_WITHIN_MS)
    return { againInSeconds: SOON_S, text: `${step.name}: waiting for its copying to begin` };
  const error = `Production took the order, and shows no copying of sandbox ${name}: look at Sandboxes in its Setup`;
  await move(work, step, { state: 'failed', error });
  throw cannotGo(error);
}

async function broken(work: SandboxWork, step: StepRow, { status, progress }: SandboxCopy): Promise<never> {
  const { name } = work.sandbox;
  const how = status === 'E' ? 'broke off' : 'was discarded, or the sandbox deleted, by somebody else';
  const error = `The copying of sandbox ${name} ${how}${progress === null ? '' : ` at ${progress} %`} (status ${status}): Sandboxes in Setup of the production org may say why`;
  await move(work, step, { state: 'failed', error });
  throw cannotGo(error);
}
