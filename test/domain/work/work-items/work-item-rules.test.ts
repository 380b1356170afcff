import { DomainError } from '../../../../domain/kernel/shared/errors.ts';
import { tokenFailed, trackerFailed } from '../../../../domain/work/work-items/tracker-failure-rules.ts';
import { trackerOf, trackerTarget } from '../../../../domain/work/work-items/tracker-location-rules.ts';
import {
  boardState,
  closingState,
  customFields,
  issueTypeOf,
  isWorkItemId,
  otherReportLabels,
  priorityOf,
  shownDescription,
} from '../../../../domain/work/work-items/work-item-rules.ts';
import type { TrackerFailure } from '../../../../domain/work/work-items/work-tracker.port.ts';
import { PROCESSES } from '../../../simulators/trackers/azure-processes.ts';

test.each([
  ['tracker-a', ['SHOP-12', 'shop-1', 'A1_B-9'], ['SHOP-0', '12', 'SHOP-', '-1', 'SHOP-1/../x', 'SHOP-12 ', '1SHOP-1']],
  ['host-a', ['1', '4711'], ['0', '-1', '01', 'SHOP-1', '1.5', '12345678901', '']],
  ['host-b', ['1', '4711', '2147483647'], ['0', 'a', '1/states', '2147483648', '9999999999']],
] as const)('ids of %s', (platform, good, bad) => {
  for (const id of good) expect([id, isWorkItemId(platform, id)]).toEqual([id, true]);
  for (const id of bad) expect([id, isWorkItemId(platform, id)]).toEqual([id, false]);
});

test.each([
  ['Bug', ['story'], 'Bug'],
  [null, ['Story', 'ui'], 'story'],
  [undefined, ['task', 'bug'], 'bug'],
  [null, ['buggy'], 'issue'],
] as const)('issue type %j with labels %j is %s', (type, labels, expected) => {
  expect(issueTypeOf(type, labels)).toBe(expected);
});

test.each([
  [['ui', 'priority:high'], 'high'],
  [['Priority: very high'], 'very high'],
  [['p0'], 'P0'],
  [['P5', 'P10', 'priority:', 'xP1'], null],
] as const)('labels %j give the priority %j', (labels, expected) => {
  expect(priorityOf(labels)).toBe(expected);
});

const { agile, scrum, basic } = PROCESSES;

test.each([
  [agile.Bug, 'Active', 'closed', 'Closed'],
  [scrum.Bug, 'Committed', 'closed', 'Done'],
  [basic.Task, 'To Do', 'CLOSED', 'Done'],
  [agile.Bug, 'Resolved', 'closed', 'Closed'],
  [agile.Epic, 'Removed', 'closed', undefined],
  [agile.Bug, 'Closed', 'open', 'New'],
  [scrum.Task, 'Removed', 'open', 'To Do'],
  [agile.Bug, 'Resolved', 'open', undefined],
  [agile.Bug, 'New', 'resolved', 'Resolved'],
  [basic.Task, 'To Do', 'Closed!', 'Closed!'],
  [[{ name: 'New', category: 'Proposed' }], 'New', 'closed', 'closed'],
  [basic.Task, 'a state of an older process', 'open', 'To Do'],
] as const)('states %#: %j set to %s becomes %j', (states, current, wanted, expected) => {
  expect(boardState(states, current, wanted)).toBe(expected);
});

test.each([
  [agile.Bug, undefined, 'Closed'],
  [scrum.Bug, undefined, 'Done'],
  [basic.Task, 'Completed', 'Done'],
  [agile.Epic, 'removed', 'Removed'],
  [basic.Task, 'Removed', undefined],
  [agile.Bug, 'Resolved', 'Resolved'],
  [scrum.Bug, 'done', 'Done'],
  [scrum.Bug, 'nonsense', undefined],
  [agile.Bug, 'Active', undefined],
  [agile.Bug, 'inprogress', undefined],
  [agile.Bug, 'New', undefined],
  [agile.Bug, 'Proposed', undefined],
] as const)('reason %#: %j closes as %j', (states, reason, expected) => {
  expect(closingState(states, reason)?.name).toBe(expected);
});

test('custom fields are what nothing else shows, at most a hundred', () => {
  const fields = {
    shown: 1,
    empty: '',
    none: null,
    list: [],
    a: 'x',
    ...Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`f${n}`, n])),
  };
  const custom = customFields(
    fields,
    (name) => name === 'shown',
    (value) => value,
  );
  expect(Object.keys(custom)).toHaveLength(100);
  expect(custom).toMatchObject({ a: 'x', f0: 0 });
  expect(custom).not.toHaveProperty('shown');
  expect(
    Object.keys(
      customFields(
        JSON.parse('{"__proto__": {"a": 1}}'),
        () => false,
        (value) => value,
      ),
    ),
  ).toEqual(['__proto__']);
});

test('custom fields that are long are cut, and those that are large or deep are left out', () => {
  let deep: unknown = 'x';
  for (let level = 0; level < 100_000; level++) deep = [deep];
  const fields = {
    text: 'x'.repeat(20_000),
    list: Array.from({ length: 5_000 }, () => 'abc'),
    deep,
    flat: { a: { b: [1] } },
  };
  const custom = customFields(
    fields,
    () => false,
    (value) => value,
  );
  expect(Object.keys(custom)).toEqual(['text', 'flat']);
  expect(custom.text).toHaveLength(10_000);
});

test('descriptions are cut', () => {
  expect(shownDescription('x'.repeat(200_000))).toHaveLength(100_000);
  expect([shownDescription(''), shownDescription(null), shownDescription('a')]).toEqual([null, null, 'a']);
});

test('one state is reported at a time', () => {
  expect([...otherReportLabels('done')]).toEqual(['quayside:waiting', 'quayside:running', 'quayside:failed']);
});

const project = (platform: string, workItems?: object) => ({
  id: 'p',
  identifier: 'acme/shop',
  platform,
  configuration: workItems ? { workItems } : {},
});

test.each([
  ['host-a', undefined, 'host-a'],
  ['host-b', { provider: 'tracker-a' }, 'tracker-a'],
  ['host-c', { provider: 'host-b' }, 'host-b'],
  ['host-c', undefined, undefined],
  ['host-c', {}, undefined],
] as const)('a project of %s with %j keeps its work items in %s', (platform, workItems, expected) => {
  expect(trackerOf(project(platform, workItems))).toBe(expected);
});

test.each([
  ['host-a', {}, 'host-a', 'host-a'],
  ['host-a', { provider: 'tracker-a' }, 'host-a', 'host-a'],
  ['host-a', { provider: 'host-b' }, 'host-b', 'host-b'],
  ['host-a', { provider: 'tracker-a' }, 'host-b', undefined],
  ['host-c', {}, 'host-a', undefined],
] as const)('a project of %s with %j asked for %s: %s', (platform, workItems, asked, expected) => {
  const target = () => trackerTarget(project(platform, workItems), asked);
  if (expected) expect(target()).toMatchObject({ platform: expected, issueType: 'Task', boards: [], pagesUrl: null });
  else expect(target).toThrow(expect.objectContaining({ code: 'invalid_request' }));
});

test('without a provider the project itself is refused, with what it lacks', () => {
  expect(() => trackerTarget(project('host-c'))).toThrow('The project acme/shop has no work item provider');
});

const now = new Date('2026-11-22T12:00:00Z');
const failure = (kind: TrackerFailure['kind'], retryAt: Date | null = null): TrackerFailure => ({
  isOk: false,
  kind,
  message: 'host-a answered 4',
  mayBeDone: false,
  retryAt,
});

test.each([
  ['auth_failed', 'upstream_error', 'invalid_request'],
  ['limited', 'upstream_error', 'upstream_error'],
  ['unreachable', 'upstream_error', 'upstream_error'],
  ['timeout', 'upstream_timeout', 'upstream_timeout'],
  ['refused', 'invalid_request', 'invalid_request'],
  ['conflict', 'version_conflict', 'version_conflict'],
  ['not_found', 'not_found', 'not_found'],
  ['malformed', 'upstream_error', 'upstream_error'],
] as const)('%s is %s, with a token of a person %s', (kind, ours, persons) => {
  expect(trackerFailed('Work item 1', failure(kind), now).code).toBe(ours);
  expect(tokenFailed('Work item 1', failure(kind), now).code).toBe(persons);
});

test('a limit says when to come back, and a refused token which field has it', () => {
  const limited = trackerFailed('x', failure('limited', new Date(now.getTime() + 89_500)), now);
  expect(limited).toBeInstanceOf(DomainError);
  expect(limited.extras.headers).toEqual({ 'Retry-After': '90' });
  expect(trackerFailed('x', failure('limited'), now).extras.headers).toEqual({ 'Retry-After': '1' });
  expect(tokenFailed('x', failure('auth_failed'), now).extras.fields).toEqual([
    { pointer: 'authToken', detail: 'host-a answered 4' },
  ]);
});
