import { ApplicationFailure } from '@temporalio/common';
import type { CrmAnswer, CrmFailure } from '../../../domain/orgs/crm/crm-platform.port.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import {
  claimStep,
  moveStep,
  type StepMove,
  type StepRow,
} from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { Deps } from '../../deps.ts';
import type { Pending } from '../flows/operations.activities.ts';
import { OrgCallFailed } from './org-call-failed.ts';

/** Neither we nor the org can tell whether something was done there; the message says what to look at. */
export class UnknownOutcome extends Error {}

/** The org was asked a moment ago, and may not show yet what it has begun. */
export class AskedTooSoon extends Error {
  readonly pending: Pending;
  constructor(pending: Pending) {
    super(pending.text);
    this.pending = pending;
  }
}

/** How a step is begun in an org. */
export interface Beginning {
  /** Asks for it; answers its id in the org. */
  create: () => Promise<CrmAnswer<string>>;
  /**
   * The id of what the step has begun in the org, by what the org shows of it since `askedAt`; null: it is sure that nothing
   * was begun; `unknown`: it cannot tell.
   */
  find: (askedAt: Date) => Promise<CrmAnswer<string | null>>;
  /** What a person looks at where the org cannot tell: `Installed Packages in Setup`. */
  lookAt: string;
  /** How long the call may take beyond others, in milliseconds: an upload. */
  uploadMs?: number;
}

/** What a call found out, where the org cannot say whether a step was begun. */
export const CANNOT_TELL = 'unknown';

/**
 * After this, an org shows what it has begun although nobody got its answer: the longest call (`CRM_CALL_SECONDS`), and a
 * while.
 */
export const SETTLE_MS = 75_000;

/** Who has claimed a step asks for it at once, or not at all: later, another attempt may have looked in the org. */
const CLAIM_MS = 10_000;

/** Failures after which the org may have done what it was asked for. */
const MAY_HAVE_BEEN_DONE: ReadonlySet<CrmFailure['kind']> = new Set(['unreachable', 'timeout', 'malformed']);

/**
 * Begins a step in its org, once: its row says that it is asked for before the org is, and has its id afterwards. A step
 * whose answer nobody got is looked for in the org, and asked for again only where the org is sure that it has nothing.
 * Throws what `followInOrg` ends or repeats.
 */
export async function beginOnce(
  deps: Pick<Deps, 'actingAs' | 'now' | 'flows'>,
  tenant: TenantKey,
  step: StepRow,
  { create, find, lookAt, uploadMs = 0 }: Beginning,
): Promise<StepRow> {
  if (step.externalId !== null) return step;
  const move = async (change: StepMove): Promise<StepRow> => {
    const moved = await deps.actingAs(systemActor(tenant, 'flow'))((tx) => moveStep(tx, step.id, change));
    return moved ?? { ...step, ...change, progress: step.progress, result: step.result };
  };
  if (step.state === 'asked') {
    const externalId = await whatBegan(deps, step, { find, settleMs: SETTLE_MS + uploadMs });
    if (externalId === CANNOT_TELL) {
      const error = `${step.name}: the org did not answer whether it began, and cannot be asked. Look at ${lookAt}, before the run is started again.`;
      await move({ state: 'unknown', error });
      throw new UnknownOutcome(error);
    }
    if (externalId !== null) return move({ state: 'begun', externalId });
  }
  const claimedMs = deps.now().getTime();
  const isClaimed = await deps.actingAs(systemActor(tenant, 'flow'))((tx) => claimStep(tx, step));
  if (!isClaimed || deps.now().getTime() - claimedMs > CLAIM_MS)
    throw ApplicationFailure.retryable(`${step.name}: another attempt asks the org, or this one was held up`);
  const answer = await create();
  if (answer.isOk) return move({ state: 'begun', externalId: answer.value });
  if (answer.kind === 'limited') await move({ state: 'planned' });
  else if (!MAY_HAVE_BEEN_DONE.has(answer.kind)) await move({ state: 'failed', error: answer.message });
  throw new OrgCallFailed(answer);
}

async function whatBegan(
  { now, flows: { pace } }: Pick<Deps, 'now' | 'flows'>,
  { askedAt, name }: StepRow,
  { find, settleMs }: Pick<Beginning, 'find'> & { settleMs: number },
): Promise<string | null> {
  const asked = new Date(askedAt ?? now());
  const leftMs = asked.getTime() + settleMs * pace - now().getTime();
  const found = await find(asked);
  if (!found.isOk) throw new OrgCallFailed(found);
  if ((found.value === null || found.value === CANNOT_TELL) && leftMs > 0)
    throw new AskedTooSoon({ againInSeconds: leftMs / 1_000 / pace, text: `Looking whether the org began: ${name}` });
  return found.value;
}

/** How a run ends of which a step has failed, or of which nobody knows whether it was done. */
export const outcomeOfFailed = ({ name, state, error }: StepRow): RunOutcome => ({
  status: 'failed',
  error: error ?? name,
  ...(state === 'unknown' && { code: 'unknown_outcome' as const }),
});
