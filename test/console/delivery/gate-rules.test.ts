import type { FlowDryRun } from '@quayside/client';
import {
  type Gate,
  gatesOf,
  hasMoreRuns,
  requestArguments,
  runsThere,
  type StartOptions,
  startPayload,
  verdictOf,
  zonesOf,
} from '../../../console/delivery/gates/gate-rules.ts';

type Gates = NonNullable<FlowDryRun['gates']>;

const release = { repositoryIdentifier: 'acme/shop', domain: 'sales', releaseName: '2026.07' };
const OPEN: Gates = { approval: null, after: null, soak: null, window: null, lock: null, locks: [] };
const lock = (position: number, heldBy: string | null): Gates['lock'] => ({
  environmentId: 'e',
  environmentName: 'uat',
  heldBy,
  position,
  estimatedWaitSeconds: null,
});
const approval = {
  approvers: ['ada@acme.example'],
  minApprovals: 1,
  expiresAfter: 'P1D',
  expiresAt: '2026-12-01T00:00:00Z',
};
const answer = (gates: Partial<Gates> = {}, more: Partial<FlowDryRun> = {}): FlowDryRun => ({
  wouldStart: true,
  refusal: null,
  executor: 'command',
  gates: { ...OPEN, ...gates },
  hold: null,
  changes: null,
  cannotDo: [],
  ...more,
});
const hold = { source: 'person', reason: 'waits for legal', until: null, environmentName: null } as const;
const refusal = { code: 'invalid_transition', detail: 'not yet' };
const toneOf = (gates: readonly Gate[], kind: Gate['kind']) => gates.find((gate) => gate.kind === kind)?.tone;

test('gates are told in the order in which a run comes to them', () => {
  expect(gatesOf(answer()).map(({ kind }) => kind)).toEqual([
    'hold',
    'after',
    'soak',
    'approval',
    'window',
    'lock',
    'executor',
  ]);
});

test.each<[string, Gate['kind'], FlowDryRun, string]>([
  ['no hold', 'hold', answer(), 'good'],
  ['a hold', 'hold', answer({}, { hold }), 'bad'],
  ['nothing to come before', 'after', answer(), 'idle'],
  ['what had to come before did', 'after', answer({ after: { missing: [], reason: null } }), 'good'],
  ['what must come before did not', 'after', answer({ after: { missing: ['uat'], reason: 'uat first' } }), 'bad'],
  ['a soak that is over', 'soak', answer({ soak: { endsAt: null } }), 'good'],
  ['a soak that goes on', 'soak', answer({ soak: { endsAt: '2026-12-01T00:00:00Z' } }), 'wait'],
  [
    'a soak that has not begun',
    'soak',
    answer({ soak: { endsAt: null }, after: { missing: ['uat'], reason: 'uat first' } }),
    'wait',
  ],
  ['an approval', 'approval', answer({ approval }), 'wait'],
  ['no approval', 'approval', answer(), 'idle'],
  ['an open window', 'window', answer({ window: { isOpen: true, nextWindowAt: null, reason: null } }), 'good'],
  ['a closed window', 'window', answer({ window: { isOpen: false, nextWindowAt: null, reason: 'frozen' } }), 'wait'],
  ['a free lock', 'lock', answer({ lock: lock(0, null) }), 'good'],
  ['a lock of somebody', 'lock', answer({ lock: lock(1, 'ada') }), 'wait'],
  ['an executor', 'executor', answer(), 'good'],
  ['nothing that executes it', 'executor', answer({}, { executor: null }), 'bad'],
])('a gate has its tone: %s', (_, kind, told, tone) => {
  expect(toneOf(gatesOf(told), kind)).toBe(tone);
});

test('a closed window is in the way of a run that would fail there', () => {
  const told = answer({ window: { isOpen: false, nextWindowAt: null, reason: 'frozen' } });
  expect(toneOf(gatesOf(told, true), 'window')).toBe('bad');
});

test.each<[string, FlowDryRun, FlowDryRun, boolean, object]>([
  ['nothing in the way', answer(), answer(), false, { can: 'now' }],
  ['it waits for an approval', answer({ approval }), answer(), false, { can: 'waits' }],
  [
    'a soak refuses the one and holds up the other',
    answer({ soak: { endsAt: '2026-12-01T00:00:00Z' } }, { wouldStart: false, refusal }),
    answer(),
    false,
    { can: 'waits' },
  ],
  [
    'what must come before is missing',
    answer({ after: { missing: ['uat'], reason: 'uat first' } }, { wouldStart: false, refusal }),
    answer(),
    false,
    { can: 'no', reason: 'not yet' },
  ],
  ['it is held', answer({}, { hold, wouldStart: false, refusal }), answer(), false, { can: 'no', reason: 'not yet' }],
  [
    'the request is refused',
    answer(),
    answer({}, { wouldStart: false, refusal }),
    false,
    { can: 'no', reason: 'not yet' },
  ],
  [
    'it is refused for another reason',
    answer({}, { wouldStart: false, refusal }),
    answer(),
    false,
    { can: 'no', reason: 'not yet' },
  ],
])('the verdict: %s', (_, told, requested, isFirst, verdict) => {
  expect(verdictOf(told, requested, gatesOf(told), isFirst)).toEqual(verdict);
});

test.each<[string, Partial<Gates>, boolean, string]>([
  ['it is missing, and taken there first', { after: { missing: ['uat'], reason: 'uat first' } }, true, 'wait'],
  ['it is missing', { after: { missing: ['uat'], reason: 'uat first' } }, false, 'bad'],
  ['it was there already', { after: { missing: [], reason: null } }, true, 'good'],
  ['nothing must come before', {}, true, 'idle'],
])('the gate of what must come before, for a run that may go there first: %s', (_, gates, goesFirst, tone) => {
  expect(toneOf(gatesOf(answer(gates), false, goesFirst), 'after')).toBe(tone);
});

test('what must come before is no obstacle to a run that goes there first', () => {
  const told = answer({ after: { missing: ['uat'], reason: 'uat first' } }, { wouldStart: false, refusal });
  expect(verdictOf(told, answer(), gatesOf(told, false, true), true)).toEqual({ can: 'waits' });
});

test.each<[number, number, boolean, boolean]>([
  [0, 0, true, false],
  [2, 2, true, false],
  [100, 101, true, true],
  [100, 100, false, true],
])('of %d open runs that were read, of %d (exactly: %s), there are more: %s', (read, totalCount, isExact, isMore) => {
  const runs = Array.from({ length: read });
  expect(hasMoreRuns({ runs, totalCount, totalCountIsExact: isExact })).toBe(isMore);
});

test.each<[StartOptions, object, readonly string[]]>([
  [{}, { environmentNames: ['uat'] }, []],
  [{ failOutsideWindow: true }, { environmentNames: ['uat'], failOutsideWindow: true }, ['--fail-outside-window']],
  [{ overrideReason: '  ' }, { environmentNames: ['uat'] }, []],
  [{ overrideReason: ' now ' }, { environmentNames: ['uat'], override: { reason: 'now' } }, ['--override', 'now']],
])('a request says the same as payload and as a line: %j', (options, members, line) => {
  expect(startPayload('request-release', release, 'uat', options)).toEqual({
    id: 'request-release',
    ...release,
    ...members,
  });
  expect(requestArguments(release, 'uat', options)).toEqual([
    'release',
    'request',
    '2026.07',
    '--repository',
    'acme/shop',
    '--domain',
    'sales',
    '--environment',
    'uat',
    ...line,
  ]);
});

test('gates are asked for one environment, and a request takes it to others first', () => {
  expect(startPayload('execute-release', release, 'uat')).toEqual({
    id: 'execute-release',
    ...release,
    environmentName: 'uat',
  });
  expect(startPayload('request-release', release, 'live', { first: ['uat'] })).toMatchObject({
    environmentNames: ['uat', 'live'],
  });
  expect(requestArguments(release, 'live', { first: ['uat'] }).slice(-4)).toEqual([
    '--environment',
    'uat',
    '--environment',
    'live',
  ]);
});

test('runs that take it there are told from others, and from the run that they are parts of', () => {
  const run = (id: string, taskType: string, environmentName: string | null, more: object = {}) => ({
    id,
    taskType,
    environmentName,
    category: 'release',
    parentExecutionId: null,
    ...more,
  });
  const runs = [
    run('1', 'execute-release', 'uat'),
    run('2', 'execute-release', 'live'),
    run('3', 'request-release', null),
    run('4', 'verify-deployment', 'uat', { category: 'testing' }),
    run('5', 'request-release', null),
    run('6', 'execute-release', 'uat', { parentExecutionId: '5' }),
  ];
  expect(runsThere(runs, 'uat').map(({ id }) => id)).toEqual(['1', '3', '6']);
});

test('the zones of windows are told once each', () => {
  const open = (timezone: string) => ({ days: ['mon' as const], from: '10:00', to: '11:00', timezone });
  expect(zonesOf({ promotion: { windows: [open('Europe/Berlin'), open('UTC'), open('Europe/Berlin')] } })).toEqual([
    'Europe/Berlin',
    'UTC',
  ]);
  expect(zonesOf({ promotion: null })).toEqual([]);
});
