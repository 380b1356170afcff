/** What automation reports of a request. */
export const CALLBACK_EVENTS = ['started', 'completed', 'failed', 'rejected', 'cancelled'] as const;
export type CallbackEvent = (typeof CALLBACK_EVENTS)[number];

/** What a request remembers: also that one of our runs was accepted, which may wait before it begins. */
export const NOTED_EVENTS = ['accepted', ...CALLBACK_EVENTS] as const;
export type RequestEvent = (typeof NOTED_EVENTS)[number];

/** `creating`: the tracker has not confirmed the work item yet. */
export const REQUEST_STATUSES = ['creating', 'open', 'in_progress', 'completed', 'closed', 'failed'] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

/** The most events that a request remembers; the oldest are forgotten. */
export const HISTORY_MAX = 200;
/** How many of the newest executions are kept with the result that counts: later news can make only one of them the newest. */
const EXECUTIONS_WITH_RESULT = 3;

/** The whole table of what an event makes of a request. */
const STATUS_AFTER = {
  accepted: 'open',
  started: 'in_progress',
  completed: 'completed',
  failed: 'failed',
  rejected: 'completed',
  cancelled: 'closed',
} as const satisfies Record<RequestEvent, RequestStatus>;

/** An event as a request remembers it. */
export interface NotedEvent {
  event: RequestEvent;
  /** Null: the one that was the newest at its time. */
  executionId: string | null;
  /** ISO 8601, UTC, as the sender says; null when it does not. */
  occurredAt: string | null;
  /** ISO 8601, UTC. */
  receivedAt: string;
  message: string | null;
  error: string | null;
  result?: Record<string, unknown> | null;
}

/** What follows from the events of a request. */
export interface RequestState {
  status: RequestStatus;
  executionId: string | null;
  /** ISO 8601. */
  startedAt: string | null;
  completedAt: string | null;
  message: string | null;
  error: string | null;
  result: Record<string, unknown> | null;
}

interface Execution {
  id: string | null;
  /** What executions are ordered by: the time of its `started`, or of the first of its events as long as there is none. */
  beganAt: string;
  events: NotedEvent[];
}

const momentOf = ({ occurredAt, receivedAt }: NotedEvent): string => occurredAt ?? receivedAt;
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** By time; never by arrival, so that the same events are in the same order however they came. */
const byMoment = (a: NotedEvent, b: NotedEvent): number =>
  compare(momentOf(a), momentOf(b)) ||
  compare(a.executionId ?? '', b.executionId ?? '') ||
  compare(a.event, b.event) ||
  compare(a.receivedAt, b.receivedAt);

const isStart = ({ event }: NotedEvent): boolean => event === 'started';
const isEnd = ({ event }: NotedEvent): boolean => event !== 'started' && event !== 'accepted';

/** Executions from the oldest to the newest, each with its events by time; `history` is sorted. */
function executionsOf(history: readonly NotedEvent[]): Execution[] {
  const named = new Map<string, NotedEvent[]>();
  for (const each of history)
    if (each.executionId !== null) named.set(each.executionId, [...(named.get(each.executionId) ?? []), each]);
  const executions = [...named].map(([id, events]): Execution => {
    const first = events.find(isStart) ?? events[0];
    return { id, events, beganAt: first ? momentOf(first) : '' };
  });
  executions.sort((a, b) => compare(a.beganAt, b.beganAt) || compare(a.id ?? '', b.id ?? ''));
  for (const each of history) {
    if (each.executionId !== null) continue;
    const newest = executions.findLast(({ beganAt }) => beganAt <= momentOf(each)) ?? executions[0];
    if (newest) newest.events = [...newest.events, each].toSorted(byMoment);
    else executions.push({ id: null, beganAt: momentOf(each), events: [each] });
  }
  return executions;
}

/** Whether the same event of one execution was noted before: the first counts. */
const isRepeated = (each: NotedEvent, index: number, events: readonly NotedEvent[]): boolean =>
  events.findIndex(({ event }) => event === each.event) < index;

/**
 * The state of a request by all that was reported of it; undefined before the first event. The newest execution counts;
 * within it the latest event does, and a start never undoes an end. One that was accepted and has not begun leaves it open.
 * @param isItemClosed what was executed is closed where its work item is; what was rejected is not.
 */
export function stateOf(
  history: readonly NotedEvent[],
  { isItemClosed }: { isItemClosed: boolean },
): RequestState | undefined {
  const newest = executionsOf(history.toSorted(byMoment)).at(-1);
  if (!newest) return undefined;
  const events = newest.events.filter((...each) => !isRepeated(...each));
  const started = events.find(isStart);
  const ended = events.findLast(isEnd);
  const last = ended ?? started ?? events[0];
  if (!last) return undefined;
  return {
    status: last.event === 'completed' && isItemClosed ? 'closed' : STATUS_AFTER[last.event],
    executionId: newest.id,
    startedAt: started ? momentOf(started) : null,
    completedAt: ended ? momentOf(ended) : null,
    message: last.message,
    error: last.error,
    result: last.result ?? null,
  };
}

/** The event of an execution that its state follows from. */
function countingIn({ events }: Execution): NotedEvent | undefined {
  const distinct = events.filter((...each) => !isRepeated(...each));
  return distinct.findLast(isEnd) ?? distinct[0];
}

/**
 * The history with one more event; undefined for one that is known, and for one older than a full history. The same event
 * of an execution counts once, at the earliest time that was reported of it.
 * @param isRevision the execution itself says that it ended otherwise than it did before.
 */
export function withEvent(
  history: readonly NotedEvent[],
  added: NotedEvent,
  { isRevision = false } = {},
): NotedEvent[] | undefined {
  const kept = isRevision
    ? history.filter((each) => !isEnd(each) || each.executionId !== added.executionId)
    : [...history];
  const withAdded = [...kept, added].toSorted(byMoment);
  const known = kept.find((each) => isSame(each, added, withAdded));
  // When a repetition arrived says nothing of when it happened.
  if (known && (added.occurredAt === null || momentOf(known) <= momentOf(added))) return undefined;
  const all = withAdded.filter((each) => each !== known);
  const newest = executionsOf(all).slice(-EXECUTIONS_WITH_RESULT);
  const remembered = withoutOldest(all, newest);
  if (!remembered.includes(added)) return undefined;
  const withResults = new Set(newest.map(countingIn));
  return remembered.map((each) => (withResults.has(each) || each.result === undefined ? each : withoutResult(each)));
}

/** At most as many events as are remembered. The starts of the newest executions stay: they say which of them is the newest. */
function withoutOldest(all: readonly NotedEvent[], newest: readonly Execution[]): NotedEvent[] {
  const starts = new Set(newest.flatMap(({ events }) => events.find(isStart) ?? []));
  const others = new Set(all.filter((each) => !starts.has(each)).slice(starts.size - HISTORY_MAX));
  return all.filter((each) => starts.has(each) || others.has(each));
}

function isSame(known: NotedEvent, added: NotedEvent, all: readonly NotedEvent[]): boolean {
  if (known.event !== added.event || known.executionId !== added.executionId) return false;
  if (added.executionId !== null) return true;
  if (known.occurredAt !== null || added.occurredAt !== null) return known.occurredAt === added.occurredAt;
  // Without a name and a time it is a repetition, unless an execution began in between.
  return executionsOf(all).some(({ events }) => events.includes(known) && events.includes(added));
}

const withoutResult = ({ result: _, ...each }: NotedEvent): NotedEvent => each;
