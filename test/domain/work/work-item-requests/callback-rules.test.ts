import fc from 'fast-check';
import {
  HISTORY_MAX,
  NOTED_EVENTS,
  type NotedEvent,
  type RequestEvent,
  stateOf,
  withEvent,
} from '../../../../domain/work/work-item-requests/callback-rules.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const at = (second: number): string => new Date(Date.UTC(2026, 2, 2, 9, 0, second)).toISOString();

/** What was reported, `second` by the sender's clock. */
const noted = (executionId: string | null, event: RequestEvent, second: number): NotedEvent => ({
  event,
  executionId,
  occurredAt: at(second),
  receivedAt: at(600),
  message: `${event} of ${executionId} at ${second}`,
  error: null,
  result: { second },
});

const historyOf = (events: readonly NotedEvent[]): NotedEvent[] =>
  events.reduce<NotedEvent[]>((history, event) => withEvent(history, event) ?? history, []);
const statusAfter = (events: readonly NotedEvent[], isItemClosed = false) =>
  stateOf(historyOf(events), { isItemClosed })?.status;

test.each([
  ['accepted', 'open', 'open'],
  ['started', 'in_progress', 'in_progress'],
  ['completed', 'completed', 'closed'],
  ['failed', 'failed', 'failed'],
  ['rejected', 'completed', 'completed'],
  ['cancelled', 'closed', 'closed'],
] as const)('%s makes a request %s, or %s where its work item is closed', (event, status, whereClosed) => {
  expect(statusAfter([noted('a', event, 1)])).toBe(status);
  expect(statusAfter([noted('a', event, 1)], true)).toBe(whereClosed);
});

test('within an execution the later time counts, and a start never undoes an end', () => {
  expect(statusAfter([noted('a', 'failed', 5), noted('a', 'completed', 4)])).toBe('failed');
  expect(statusAfter([noted('a', 'failed', 5), noted('a', 'completed', 6)])).toBe('completed');
  expect(statusAfter([noted('a', 'completed', 4), noted('a', 'started', 9)])).toBe('completed');
});

test('an execution that began later reopens, and what is reported of older ones is only noted', () => {
  const first = [noted('a', 'started', 1), noted('a', 'completed', 2)];
  const reopened = [...first, noted('b', 'started', 3)];
  expect(statusAfter(reopened)).toBe('in_progress');
  expect(statusAfter([...reopened, noted('a', 'failed', 9)])).toBe('in_progress');
  expect(historyOf([...reopened, noted('a', 'failed', 9)])).toHaveLength(4);
  // The one that is heard of first may have begun first.
  expect(statusAfter([noted('b', 'started', 3), noted('b', 'failed', 4), ...first])).toBe('failed');
});

test('one that was accepted is the newest until another begins, and has not begun', () => {
  const first = [noted('a', 'started', 1), noted('a', 'failed', 2)];
  const waiting = [...first, noted('b', 'accepted', 3)];
  expect(stateOf(historyOf(waiting), { isItemClosed: false })).toMatchObject({
    status: 'open',
    executionId: 'b',
    startedAt: null,
    completedAt: null,
  });
  expect(statusAfter([...waiting, noted('b', 'started', 4), noted('b', 'accepted', 5)])).toBe('in_progress');
  expect(statusAfter([...waiting, noted('b', 'rejected', 4)])).toBe('completed');
  const overtaken = [...waiting, noted('c', 'accepted', 4), noted('c', 'started', 5)];
  expect(stateOf(historyOf(overtaken), { isItemClosed: false })).toMatchObject({ executionId: 'c' });
  expect(statusAfter([...overtaken, noted('b', 'started', 6)])).toBe('in_progress');
});

test('what names no execution belongs to the newest at its time', () => {
  const first = [noted('a', 'started', 1), noted(null, 'completed', 2)];
  expect(statusAfter(first)).toBe('completed');
  expect(statusAfter([...first, noted('b', 'started', 3)])).toBe('in_progress');
  expect(statusAfter([...first, noted('b', 'started', 3), noted(null, 'failed', 4)])).toBe('failed');
  expect(statusAfter([noted(null, 'started', 1), noted(null, 'cancelled', 2)])).toBe('closed');
  // The clock of its sender is behind.
  expect(statusAfter([noted('a', 'started', 5), noted(null, 'completed', 2)])).toBe('completed');
});

test('without times it counts once, until another execution begins', () => {
  const unnamed = (second: number): NotedEvent => ({
    ...noted(null, 'completed', 0),
    occurredAt: null,
    receivedAt: at(second),
  });
  const history = historyOf([noted('a', 'started', 1), unnamed(2)]);
  expect(withEvent(history, unnamed(3))).toBeUndefined();
  const again = historyOf([...history, noted('b', 'started', 4), unnamed(5)]);
  expect(again).toHaveLength(4);
  expect(stateOf(again, { isItemClosed: false })?.status).toBe('completed');
});

test('the same event of an execution again changes nothing, unless the execution itself ended otherwise', () => {
  const history = historyOf([noted('a', 'started', 1), noted('a', 'failed', 2)]);
  expect(withEvent(history, { ...noted('a', 'failed', 7), error: 'again' })).toBeUndefined();
  const revised = withEvent(history, noted('a', 'completed', 3), { isRevision: true }) ?? [];
  const back = withEvent(revised, noted('a', 'failed', 4), { isRevision: true }) ?? [];
  expect(stateOf(back, { isItemClosed: false })).toMatchObject({
    status: 'failed',
    startedAt: at(1),
    completedAt: at(4),
  });
});

test('the oldest events are forgotten, and results of old executions', () => {
  const many = Array.from({ length: HISTORY_MAX }, (_, n) => [
    noted(`e${n}`, 'started', n),
    noted(`e${n}`, 'failed', n),
  ]);
  const history = historyOf(many.flat());
  expect(history).toHaveLength(HISTORY_MAX);
  expect(new Set(history.map(({ executionId }) => executionId)).size).toBe(HISTORY_MAX / 2);
  expect(history.filter(({ result }) => result !== undefined).length).toBeLessThanOrEqual(6);
  expect(stateOf(history, { isItemClosed: false })).toMatchObject({
    executionId: `e${HISTORY_MAX - 1}`,
    status: 'failed',
  });
});

test('of an execution without a name only the result that counts is kept, too', () => {
  const history = historyOf(Array.from({ length: HISTORY_MAX }, (_, n) => noted(null, 'failed', n)));
  expect(history).toHaveLength(HISTORY_MAX);
  expect(history.filter(({ result }) => result !== undefined)).toEqual([
    expect.objectContaining({ result: { second: 0 } }),
  ]);
});

test('what is older than a full history changes nothing, and the start of the newest execution is not forgotten', () => {
  const full = historyOf([
    noted('old', 'started', 1),
    noted('a', 'started', 5),
    ...Array.from({ length: HISTORY_MAX }, (_, n) => noted(null, 'failed', 10 + n)),
  ]);
  expect(withEvent(full, noted('late', 'completed', 2))).toBeUndefined();
  expect(full).toHaveLength(HISTORY_MAX);
  expect(stateOf(full, { isItemClosed: false })).toMatchObject({ executionId: 'a', startedAt: at(5) });
});

test('an event that is reported with two times counts at the earlier one', () => {
  const [one, two, three] = [noted('a', 'completed', 3), noted('a', 'failed', 4), noted('a', 'completed', 5)];
  expect(statusAfter([one, two, three])).toBe('failed');
  expect(statusAfter([three, two, one])).toBe('failed');
  expect(statusAfter([two, three, one])).toBe('failed');
});

test('a repetition without a time changes nothing, though it was received earlier', () => {
  const [first, again] = [5, 3].map((second) => ({
    ...noted('a', 'completed', second),
    occurredAt: null,
    receivedAt: at(second),
  }));
  if (!first || !again) throw new Error('there are two');
  expect(withEvent([first], again)).toBeUndefined();
});

test('callbacks in every order, each tenfold, end the same', () => {
  const event = fc.record({
    executionId: fc.option(fc.constantFrom('a', 'b', 'c', 'd'), { nil: null }),
    event: fc.constantFrom(...NOTED_EVENTS),
    second: fc.integer({ min: 0, max: 20 }),
  });
  const events = fc
    .uniqueArray(event, {
      maxLength: 12,
      selector: (each) => `${each.executionId} ${each.event} ${each.executionId === null ? each.second : ''}`,
    })
    .map((list) => list.map(({ executionId, event: name, second }) => noted(executionId, name, second)));
  const orders = events.chain((list) =>
    fc.tuple(
      fc.constant(list),
      fc.shuffledSubarray(
        list.flatMap((each) => Array.from({ length: 10 }, () => each)),
        { minLength: list.length * 10 },
      ),
    ),
  );
  fc.assert(
    fc.property(orders, fc.boolean(), ([inOrder, shuffled], isItemClosed) => {
      const [one, other] = [historyOf(inOrder), historyOf(shuffled)];
      const shown = (history: NotedEvent[]) => history.map(({ result: _, ...each }) => each);
      expect(shown(other)).toEqual(shown(one));
      const { result: __, ...expected } = stateOf(one, { isItemClosed }) ?? { result: null };
      expect(stateOf(other, { isItemClosed }) ?? {}).toMatchObject(expected);
    }),
    propertyRuns(200, 500),
  );
});
