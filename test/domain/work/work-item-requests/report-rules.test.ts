import {
  commentLines,
  isShownOnItem,
  reportRetryAt,
  stateOnItem,
} from '../../../../domain/work/work-item-requests/report-rules.ts';

const now = new Date('2026-03-09T09:00:00Z');
const reset = new Date('2026-03-09T10:30:00Z');
const since = '2026-03-02T09:30:00Z';

test('a refused credential delays a report by an hour for a week, a limit until it is reset', () => {
  const hourLater = new Date('2026-03-09T10:00:00Z');
  expect(reportRetryAt({ kind: 'auth_failed', retryAt: null }, { now, since })).toEqual(hourLater);
  expect(reportRetryAt({ kind: 'auth_failed', retryAt: null }, { now, since: null })).toEqual(hourLater);
  expect(reportRetryAt({ kind: 'auth_failed', retryAt: null }, { now, since: '2026-03-02T08:30:00Z' })).toBeNull();
  expect(reportRetryAt({ kind: 'limited', retryAt: reset }, { now, since })).toEqual(reset);
  expect(reportRetryAt({ kind: 'timeout', retryAt: null }, { now, since })).toEqual(now);
});

test.each(['refused', 'not_found'] as const)('what is %s is not tried again', (kind) => {
  expect(reportRetryAt({ kind, retryAt: null }, { now, since })).toBeNull();
});

test.each([
  ['waiting_approval', 'waiting', 'Waiting for approval'],
  ['waiting_window', 'waiting', 'Waiting for the window of its environment'],
  ['waiting_lock', 'waiting', 'Waiting for the lock of its environment'],
  ['waiting_org_calls', 'waiting', 'Waiting for calls of its org'],
  ['running', 'running', 'Running'],
  ['succeeded', 'done', 'Completed'],
] as const)('a work item shows that its run is %s', (status, state, line) => {
  const report = { runId: 'r1', taskType: 'install-packages', status, error: null, url: null };
  expect([isShownOnItem(status), stateOnItem(status)]).toEqual([true, state]);
  expect(commentLines(report)).toEqual(['Quayside: install-packages', line, 'Run r1']);
});

test('a run that was only just accepted is not shown yet', () => {
  expect(isShownOnItem('dispatched')).toBe(false);
});
