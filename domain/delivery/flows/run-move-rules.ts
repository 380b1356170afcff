import { isFinal, NEW_RUN, type RunStatus } from './run-status-rules.ts';

/** A move of a run from one status to another, as it is stored. */
export interface StoredMove {
  from: RunStatus;
  to: RunStatus;
  /** When, as the database's text. */
  at: string;
  /** For what it waited in the status that it left. */
  detail: string | null;
}

/** How many moves of a run are kept: the newest. */
export const MOVES_MAX = 200;

/** What of a run says in which statuses it was. Moments as the database's text. */
export interface MoveFacts {
  status: RunStatus;
  /** False: an external worker executes it and registered it in the status that it had. */
  hasWorkflow: boolean;
  createdAt: string;
  endedAt: string | null;
  /** For what it waits now. */
  waitsFor: string | null;
  /** Null: they were not kept yet when it was accepted. */
  moves: readonly StoredMove[] | null;
}

/** A status that a run has or had. */
export interface StateInTime {
  state: RunStatus;
  /** Null: it is not known. */
  since: string | null;
  /** Null: it has it still, or it ended so. */
  until: string | null;
  detail: string | null;
}

/**
 * The statuses of a run, in order, the last one that of now. One whose beginning was not kept has no `since`: of runs
 * that were accepted before moves were kept the present one alone is known.
 */
export function statesOf({ status, hasWorkflow, createdAt, endedAt, waitsFor, moves }: MoveFacts): StateInTime[] {
  // A process of the version before may have moved it without a note.
  const isOfBeginning = (each: RunStatus) => moves !== null && (each === NEW_RUN || !hasWorkflow);
  const past = (moves ?? []).map(({ from, at, detail }, index, all): StateInTime => {
    const before = all[index - 1];
    const isFirst = before === undefined && isOfBeginning(from) && all.length < MOVES_MAX;
    const since = before?.to === from ? before.at : isFirst ? createdAt : null;
    return { state: from, since, until: at, detail };
  });
  return [...past, { state: status, since: sinceOf(), until: null, detail: isFinal(status) ? null : waitsFor }];

  function sinceOf(): string | null {
    if (isFinal(status)) return endedAt;
    const last = moves?.at(-1);
    if (last) return last.to === status ? last.at : null;
    return status === NEW_RUN || isOfBeginning(status) ? createdAt : null;
  }
}

/** A ticket of a run for the lock of an environment. Moments in ISO 8601. */
export interface RunTicket {
  id: string;
  createdAt: string;
  heldAt: string | null;
  endedAt: string | null;
}

/**
 * The ticket for which a run waited in a state, the last where it waited for several; undefined: it is not known.
 * @param tickets in the order in which they were requested. @param state with moments in ISO 8601.
 */
export const ticketIn = (
  { since, until }: Pick<StateInTime, 'since' | 'until'>,
  tickets: readonly RunTicket[],
): RunTicket | undefined =>
  since === null
    ? undefined
    : tickets.findLast(
        ({ createdAt, heldAt, endedAt }) =>
          (until === null || createdAt <= until) &&
          ((heldAt ?? endedAt) === null || (heldAt ?? endedAt ?? '') >= since),
      );
