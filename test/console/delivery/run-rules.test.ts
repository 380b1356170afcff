import { extended, lastLines, type Output, textOf } from '../../../console/delivery/runs/output-rules.ts';
import { errorsOfPayload, estimateOf, payloadOf, reasonOf } from '../../../console/delivery/runs/run-rules.ts';
import { filtersIn, viewsIn, VIEWS_MAX, withView } from '../../../console/delivery/runs/saved-views-rules.ts';
import { stepTookMs, timelineOf } from '../../../console/delivery/runs/timeline-rules.ts';

const NOW = Date.parse('2026-03-02T10:00:00Z');
const at = (minute: number): string => new Date(NOW - (60 - minute) * 60_000).toISOString();

type State = Parameters<typeof timelineOf>[0][number];
const state = (name: State['state'], since: number | null, until: number | null): State => ({
  state: name,
  since: since === null ? null : at(since),
  until: until === null ? null : at(until),
  detail: null,
});
test.each<[string, State[], [string, number | null][]]>([
  [
    'passed gates are good, and the last state is that of now',
    [state('waiting_approval', 0, 10), state('running', 10, null)],
    [
      ['good', 10],
      ['busy', 50],
    ],
  ],
  [
    'a gate at which it was refused is not passed, and the end takes no time',
    [state('waiting_approval', 0, 10), state('rejected', 10, null)],
    [
      ['idle', 10],
      ['bad', null],
    ],
  ],
  [
    'what succeeded went through its work',
    [state('running', 5, 20), state('succeeded', 20, null)],
    [
      ['good', 15],
      ['good', null],
    ],
  ],
  ['a gate that it waits at now', [state('waiting_lock', 30, null)], [['wait', 30]]],
  ['a state of which the beginning is not known', [state('queued', null, null)], [['wait', null]]],
])('%s', (_, states, rows) =>
  expect(timelineOf(states, NOW).map(({ tone, tookMs }) => [tone, tookMs === null ? null : tookMs / 60_000])).toEqual(
    rows,
  ),
);

test.each([
  [null, null, null],
  [10, 20, 10],
  [10, null, 50],
] as const)('a step from %p to %p took %p minutes', (since, until, minutes) =>
  expect(stepTookMs({ since: since === null ? null : at(since), until: until === null ? null : at(until) }, NOW)).toBe(
    minutes === null ? null : minutes * 60_000,
  ),
);

const past = (id: string, durationMs: number | null, more: object = {}) => ({
  id,
  environmentName: 'uat',
  status: 'Completed' as const,
  durationMs,
  ...more,
});
test.each([
  ['two runs say nothing', [past('1', 10), past('2', 20)], undefined],
  ['three have a median', [past('1', 30), past('2', 10), past('3', 20)], { medianMs: 20, count: 3 }],
  ['of four it is between two', [past('1', 1), past('2', 2), past('3', 4), past('4', 9)], { medianMs: 3, count: 4 }],
  ['itself does not count', [past('self', 1), past('2', 2), past('3', 4)], undefined],
  ['other environments do not', [past('1', 1), past('2', 2), past('3', 4, { environmentName: 'qa' })], undefined],
  ['nor do failures', [past('1', 1), past('2', 2), past('3', 4, { status: 'Failed' })], undefined],
  ['nor what has no duration', [past('1', 1), past('2', 2), past('3', null)], undefined],
])('the estimate: %s', (_, runs, estimate) =>
  expect(estimateOf({ id: 'self', environmentName: 'uat' }, runs)).toEqual(estimate),
);

test.each([
  ['{"id":"analyze"}', { payload: { id: 'analyze' } }],
  ['[1]', { wrong: '[1]' }],
  ['null', { wrong: 'null' }],
  ['{', { wrong: expect.stringContaining('JSON') }],
])('%s as a payload', (text, found) => expect(payloadOf(text)).toEqual(found));

test('only what is said of the payload stands at its field', () => {
  const said = (pointer: string) => ({ pointer, detail: 'no' });
  expect(errorsOfPayload([said('#/body/payload/domain'), said('#/query/x'), said('#/body/payload')])).toBe(
    '/domain: no; /: no',
  );
  expect(errorsOfPayload([said('#/body/payloads')])).toBeUndefined();
  expect(errorsOfPayload(undefined)).toBeUndefined();
});

test.each([
  ['Failed', { isSuccess: false, error: 'exit 3' }, 'a lock', 'exit 3'],
  ['Failed', null, null, ''],
  ['Waiting', null, 'a lock', 'a lock'],
] as const)('the reason of a run that is %s', (status, success, waitsFor, reason) =>
  expect(reasonOf({ status, success, waitsFor })).toBe(reason),
);

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const mark = (count: number): string => `[${count}]`;
const shown = ({ bytes: found, ...rest }: Output) => ({ ...rest, text: textOf(found) });
const before: Output = { bytes: bytes('abc'), end: 3, hidden: 0, isComplete: false };
test.each([
  ['behind it', 3, 'de', { text: 'abcde', end: 5, hidden: 0 }],
  ['over a part that is known', 1, 'bcd', { text: 'abcd', end: 4, hidden: 0 }],
  ['that is known', 0, 'ab', { text: 'abc', end: 3, hidden: 0 }],
  ['behind a gap', 10, 'x', { text: 'abc\n[7]\nx', end: 11, hidden: 0 }],
  ['that is long', 3, '0123456789', { text: '23456789', end: 13, hidden: 5 }],
] as const)('a part of an output %s', (_, from, text, expected) =>
  expect(
    shown(extended(before, { bytes: bytes(text), from, isComplete: true }, mark, _ === 'that is long' ? 8 : 99)),
  ).toEqual({ ...expected, isComplete: true }),
);
test('the first part of an output begins where it begins', () =>
  expect(shown(extended(undefined, { bytes: bytes('x'), from: 7, isComplete: false }, mark))).toEqual({
    text: 'x',
    end: 8,
    hidden: 7,
    isComplete: false,
  }));

test.each([
  ['half a character at the beginning', bytes('äb').subarray(1), 'b'],
  ['half a character at the end', bytes('bä').subarray(0, 2), 'b'],
  ['colours', bytes('\u001b[31mred\u001b[0m'), 'red'],
  ['a title of a terminal', bytes('\u001b]0;title\u0007text'), 'text'],
  ['markup', bytes('<b>'), '<b>'],
  ['nothing', bytes(''), ''],
])('bytes with %s as text', (_, given, text) => expect(textOf(given)).toBe(text));

test('the last lines are those with something in them', () => expect(lastLines('a\n\nb\r\n  \nc\n', 2)).toBe('b\nc'));

test('what a browser keeps is read with suspicion', () => {
  expect(viewsIn(null)).toEqual([]);
  expect(viewsIn('{')).toEqual([]);
  expect(viewsIn('{"a":1}')).toEqual([]);
  const good = { name: 'Mine', search: { status: 'Failed' } };
  expect(viewsIn(JSON.stringify([good, { name: 1 }, null, { name: 'x', search: { a: 1 } }]))).toEqual([good]);
  expect(viewsIn(JSON.stringify(Array.from({ length: 50 }, () => good)))).toHaveLength(VIEWS_MAX);
});

test('a view replaces the one of the same name', () => {
  const [a, b, other] = [
    { name: 'a', search: {} },
    { name: 'b', search: {} },
    { name: 'a', search: { who: 'x' } },
  ];
  expect(withView([a, b], other)).toEqual([other, b]);
  expect(withView([a], b)).toEqual([a, b]);
});

test('filters are kept without the page', () =>
  expect(filtersIn({ status: 'Failed', page: '3', who: undefined, other: 'x' })).toEqual({ status: 'Failed' }));
