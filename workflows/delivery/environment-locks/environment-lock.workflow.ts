import {
  allHandlersFinished,
  condition,
  continueAsNew,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { EnvironmentLockActivities } from '../../../activities/delivery/environment-locks/environment-locks.activities.ts';
import type { LockQueueState } from '../../../domain/delivery/environment-locks/lock-tickets.queries.ts';
import { LOCAL_DATABASE_WORK } from '../../activity-options.ts';
import { signalRun } from '../flows/signal-run.ts';
import {
  type EnvironmentLockInput,
  enqueueTicketsUpdate,
  lockGrantedSignal,
  lockLostSignal,
  lockQueueStateQuery,
  reevaluateSignal,
} from './environment-lock.contract.ts';

/** A lock that nobody requested for this long completes; the next ticket starts it again. */
const LINGER_MS = 30_000;

const { reevaluateLock } = proxyLocalActivities<EnvironmentLockActivities>(LOCAL_DATABASE_WORK);

/** What was requested and not yet evaluated. */
class TicketInbox {
  #tickets: string[] = [];
  #needsEvaluation = false;
  #startedEvaluations = 0;
  #finishedEvaluations = 0;

  get hasTickets(): boolean {
    return this.#tickets.length > 0;
  }

  get hasWork(): boolean {
    return this.#needsEvaluation || this.hasTickets;
  }

  reevaluate(): void {
    this.#needsEvaluation = true;
  }

  /** Resolves when an evaluation has put the tickets into the queue. */
  async enqueue(ticketIds: string[]): Promise<void> {
    this.#tickets.push(...ticketIds);
    const evaluation = this.#startedEvaluations + 1;
    await condition(() => this.#finishedEvaluations >= evaluation);
  }

  startEvaluation(): string[] {
    this.#startedEvaluations++;
    this.#needsEvaluation = false;
    return this.#tickets.splice(0);
  }

  finishEvaluation(): void {
    this.#finishedEvaluations = this.#startedEvaluations;
  }
}

/** Grants the lock of one environment, ticket by ticket. Its state is in rows, so that it can be started again at any time. */
export async function environmentLock(input: EnvironmentLockInput): Promise<void> {
  const { tenantId, tenantSlug, environmentId } = input;
  const inbox = new TicketInbox();
  let { notifiedTicketId } = input;
  let lapsedTicketId: string | undefined;
  let state: LockQueueState | undefined;
  setHandler(enqueueTicketsUpdate, (ticketIds) => inbox.enqueue(ticketIds));
  setHandler(reevaluateSignal, () => inbox.reevaluate());
  setHandler(lockQueueStateQuery, () => state);
  for (;;) {
    state = await reevaluateLock({ tenantId, tenantSlug, environmentId, ticketIds: inbox.startEvaluation() });
    inbox.finishEvaluation();
    const { holder, expiresInMs, lapsed } = state;
    setCurrentDetails(describe(state));
    if (lapsed?.run && lapsed.ticketId !== lapsedTicketId) {
      lapsedTicketId = lapsed.ticketId;
      await signalRun({ tenantSlug, ...lapsed.run }, lockLostSignal, { ticketId: lapsed.ticketId });
    }
    if (holder?.run && holder.ticketId !== notifiedTicketId) {
      notifiedTicketId = holder.ticketId;
      // A run that has ended has returned its ticket, or its lease expires.
      await signalRun({ tenantSlug, ...holder.run }, lockGrantedSignal, { ticketId: holder.ticketId });
    }
    await condition(() => allHandlersFinished() || inbox.hasTickets);
    // A pending signal may be dropped here: the next run begins with an evaluation.
    if (workflowInfo().continueAsNewSuggested && !inbox.hasTickets) {
      await continueAsNew<typeof environmentLock>({
        ...input,
        ...(notifiedTicketId !== undefined && { notifiedTicketId }),
      });
    }
    const [timeoutMs, summary] =
      expiresInMs === null ? [LINGER_MS, 'idle'] : [Math.max(1, expiresInMs), 'lease expires'];
    const hasWork = await condition(() => inbox.hasWork, timeoutMs, { summary });
    if (!hasWork && expiresInMs === null) return;
  }
}

function describe({ holder, waiting, lapsed }: LockQueueState): string {
  if (holder) return `Held by ticket ${holder.ticketId}; ${waiting} waiting`;
  return lapsed ? `The lease of ticket ${lapsed.ticketId} expired; its run has not ended; ${waiting} waiting` : 'Free';
}
