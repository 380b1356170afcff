import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  getExternalWorkflowHandle,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { LockTurn } from '../../domain/environment-locks/lock-turn.ts';
import type { EnvironmentLockActivities } from '../../activities/environment-locks/environment-locks.activities.ts';
import { LOCAL_DATABASE_WORK } from '../activity-options.ts';
import { flowWorkflowId } from '../flows/flow-id.contract.ts';
import {
  type EnvironmentLockInput,
  LOCK_GRANTED_SIGNAL,
  type LockGranted,
  LOOK_SIGNAL,
  TAKE_IN,
} from './environment-lock.contract.ts';

/** A lock that nobody wanted for this long completes; the next ticket starts it anew. */
const LINGER_MS = 30_000;

const { takeLockTurn } = proxyLocalActivities<EnvironmentLockActivities>(LOCAL_DATABASE_WORK);

const takeInUpdate = defineUpdate<void, [string[]]>(TAKE_IN.update);
const lookSignal = defineSignal(LOOK_SIGNAL);
const standingQuery = defineQuery<LockTurn | undefined>('standing');
const lockGranted = defineSignal<[LockGranted]>(LOCK_GRANTED_SIGNAL);

/** What this workflow was told and has not yet looked after. */
class TicketInbox {
  #asked: string[] = [];
  #isToLook = false;
  #turnsBegun = 0;
  #turnsDone = 0;

  get hasAsked(): boolean {
    return this.#asked.length > 0;
  }

  get hasWork(): boolean {
    return this.#isToLook || this.hasAsked;
  }

  look(): void {
    this.#isToLook = true;
  }

  async takeIn(ticketIds: string[]): Promise<void> {
    this.#asked.push(...ticketIds);
    const turn = this.#turnsBegun + 1;
    await condition(() => this.#turnsDone >= turn);
  }

  beginTurn(): string[] {
    this.#turnsBegun++;
    this.#isToLook = false;
    return this.#asked.splice(0);
  }

  endTurn(): void {
    this.#turnsDone = this.#turnsBegun;
  }
}

/** Gives out the lock of one environment, ticket by ticket; all its facts are rows, so that it may start anew at any time. */
export async function environmentLock(input: EnvironmentLockInput): Promise<void> {
  const { tenantId, environmentId } = input;
  const inbox = new TicketInbox();
  let toldTicketId = input.toldTicketId;
  let standing: LockTurn | undefined;
  setHandler(takeInUpdate, (ticketIds) => inbox.takeIn(ticketIds));
  setHandler(lookSignal, () => inbox.look());
  setHandler(standingQuery, () => standing);
  for (;;) {
    standing = await takeLockTurn({ tenantId, environmentId, ticketIds: inbox.beginTurn() });
    inbox.endTurn();
    const { holder, waiting, expiresInMs } = standing;
    setCurrentDetails(holder ? `Held by ticket ${holder.ticketId}; ${waiting} waiting` : 'Free');
    if (holder?.runId != null && holder.ticketId !== toldTicketId) {
      toldTicketId = holder.ticketId;
      await tell(tenantId, holder.runId, holder.ticketId);
    }
    await condition(() => allHandlersFinished() || inbox.hasAsked);
    // A signal need not be looked after here: what follows begins with a turn.
    if (workflowInfo().continueAsNewSuggested && !inbox.hasAsked) {
      await continueAsNew<typeof environmentLock>({ ...input, ...(toldTicketId !== undefined && { toldTicketId }) });
    }
    const hasWork = await condition(() => inbox.hasWork, expiresInMs === null ? LINGER_MS : Math.max(1, expiresInMs));
    if (!hasWork && expiresInMs === null) return;
  }
}

/** A run that has ended in the meantime gave its ticket back, or its lease runs out. */
async function tell(tenantId: string, runId: string, ticketId: string): Promise<void> {
  try {
    await getExternalWorkflowHandle(flowWorkflowId(tenantId, runId)).signal(lockGranted, { ticketId });
  } catch {
    // There is nobody to tell.
  }
}
