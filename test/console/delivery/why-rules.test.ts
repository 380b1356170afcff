import { isFinal, type Known, toneOfStatus, type Why, whyOf } from '../../../console/delivery/candidates/why-rules.ts';
import { shareOf } from '../../../console/delivery/candidates/work-item-rules.ts';
import { isWebAddress } from '../../../console/kernel/parts/foreign-link-rules.ts';
import { changedPackages } from '../../../console/delivery/changes/changes-rules.ts';
import type { CellState } from '../../../console/delivery/where/matrix-rules.ts';

const COLUMNS = [
  { name: 'dev', category: 'dev' as const },
  { name: 'uat', category: 'release' as const },
  { name: 'live', category: 'release' as const },
];
const KNOWN: Known = { columns: COLUMNS, row: undefined, isCut: false, approvals: [], openRuns: [] };
const candidate = { status: 'in_progress', hold: null, supersededBy: null };
const by = 'ada@acme.example';
const hold = {
  source: 'person',
  reason: 'legal',
  until: null,
  by,
  since: '2026-11-01T00:00:00Z',
  environmentName: null,
} as const;
const at = (dev: CellState, uat: CellState, live: CellState, more: object = {}) => ({
  cells: [dev, uat, live].map((state) => ({
    environmentId: 'e',
    state,
    since: null,
    by: null,
    missingPackages: state === 'partial' ? ['ui'] : [],
    ...more,
  })),
});

test.each<[string, Parameters<typeof whyOf>[0], ReturnType<typeof at> | undefined, Partial<Why>]>([
  ['aborted, though held', { ...candidate, status: 'aborted', hold }, undefined, { kind: 'aborted' }],
  ['finalized', { ...candidate, status: 'finalized' }, undefined, { kind: 'finalized', tone: 'good' }],
  [
    'superseded',
    { ...candidate, status: 'finalized', supersededBy: 'r9' },
    undefined,
    { kind: 'superseded', by: 'r9' },
  ],
  ['held', { ...candidate, hold }, at('deployed', 'never', 'never'), { kind: 'held', by, reason: 'legal' }],
  [
    'held by a verification',
    { ...candidate, hold: { ...hold, source: 'verification', environmentName: 'uat' } },
    at('deployed', 'deployed', 'never'),
    { kind: 'verification', environment: 'uat' },
  ],
  [
    'an approval',
    candidate,
    at('deployed', 'waiting_approval', 'never'),
    { kind: 'approval', environment: 'uat', approvers: [by] },
  ],
  [
    'a window',
    candidate,
    at('deployed', 'deployed', 'waiting_window', { nextWindowAt: 'T' }),
    { kind: 'window', environment: 'live', opensAt: 'T' },
  ],
  ['a lock', candidate, at('waiting_lock', 'never', 'never'), { kind: 'lock', environment: 'dev' }],
  [
    'at work, and asked elsewhere',
    candidate,
    at('deployed', 'waiting_approval', 'running'),
    { kind: 'running', environment: 'live' },
  ],
  ['failed', candidate, at('deployed', 'failed', 'never'), { kind: 'failed', environment: 'uat', tone: 'bad' }],
  [
    'failed only in development',
    candidate,
    at('failed', 'deployed', 'never'),
    { kind: 'missing', environments: ['live'] },
  ],
  ['rolled back', candidate, at('deployed', 'deployed', 'rolled_back'), { kind: 'rolledBack', environment: 'live' }],
  ['in part', candidate, at('deployed', 'partial', 'never'), { kind: 'partial', packages: ['ui'] }],
  [
    'of other content',
    candidate,
    at('deployed', 'other_content', 'never'),
    { kind: 'otherContent', environment: 'uat' },
  ],
  ['missing', candidate, at('deployed', 'never', 'never'), { kind: 'missing', environments: ['uat', 'live'] }],
  ['nowhere', candidate, at('never', 'never', 'never'), { kind: 'nowhere' }],
  ['everywhere', candidate, at('never', 'installed_before', 'deployed'), { kind: 'ready', tone: 'good' }],
  ['not taken', candidate, at('deployed', 'not_taken', 'not_taken'), { kind: 'noEnvironments' }],
  ['not taken by one', candidate, at('deployed', 'deployed', 'not_taken'), { kind: 'ready' }],
])('why it is not released: %s', (_, facts, row, why) => {
  const approvals = [{ environmentName: 'uat', approvers: [by] }];
  expect(whyOf(facts, { ...KNOWN, row, approvals })).toMatchObject(why);
});

const NEVER = at('never', 'never', 'never');
const EVERYWHERE = at('deployed', 'deployed', 'deployed');
test.each<[string, Partial<Known>, Partial<Why>]>([
  ['nothing could be asked', { columns: undefined, row: undefined }, { kind: 'unknown' }],
  ['nothing is active', { columns: [], row: undefined }, { kind: 'noEnvironments' }],
  ['it is not listed', { row: undefined }, { kind: 'notFound' }],
  ['runs are not known', { row: NEVER, openRuns: undefined }, { kind: 'nowhere', isRequestKnown: false }],
  ['runs are known', { row: NEVER }, { kind: 'nowhere', isRequestKnown: true }],
  [
    'runs are not known, and it is somewhere',
    { row: at('deployed', 'never', 'deployed'), openRuns: undefined },
    { kind: 'missing', environments: ['uat'], isRequestKnown: false },
  ],
  [
    'approvals are not known',
    { row: at('deployed', 'waiting_approval', 'never'), approvals: undefined },
    { kind: 'approval', approvers: undefined },
  ],
  ['it is everywhere that was asked for', { row: EVERYWHERE, isCut: true }, { kind: 'cut' }],
  ['it is nowhere that was asked for', { row: NEVER, isCut: true }, { kind: 'missing', environments: ['uat', 'live'] }],
  [
    'no release environment was asked for',
    { row: at('deployed', 'not_taken', 'not_taken'), isCut: true },
    { kind: 'cut' },
  ],
])('the sentence says no more than is known where %s', (_, known, why) => {
  expect(whyOf(candidate, { ...KNOWN, ...known })).toMatchObject(why);
});

const run = (environmentName: string | null, more: object = {}) => ({
  category: 'release',
  environmentName,
  rawStatus: 'queued' as const,
  waitsFor: null,
  ...more,
});
test.each<[string, ReturnType<typeof run>[], Partial<Why>]>([
  ['begins soon', [run(null), run('uat')], { kind: 'requested', environment: 'uat' }],
  ['begins soon, for several', [run(null)], { kind: 'requested', environment: null }],
  ['is at work', [run('uat', { rawStatus: 'running' })], { kind: 'atWork', environment: 'uat' }],
  [
    'waits',
    [run('uat', { rawStatus: 'waiting_window', waitsFor: 'the soak in dev' })],
    { kind: 'waits', environment: 'uat', reason: 'the soak in dev', tone: 'wait' },
  ],
  ['tests it', [run('uat', { category: 'testing' })], { kind: 'missing' }],
])('a run that %s counts where no environment shows it', (_, openRuns, why) => {
  expect(whyOf(candidate, { ...KNOWN, row: at('deployed', 'never', 'never'), openRuns })).toMatchObject(why);
});

test('statuses have tones, and only two are final', () => {
  expect(['pending', 'in_progress', 'finalized', 'aborted', 'in-review'].map(toneOfStatus)).toEqual([
    'idle',
    'busy',
    'good',
    'bad',
    'busy',
  ]);
  expect(['pending', 'in_progress', 'finalized', 'aborted', 'in-review'].filter(isFinal)).toEqual([
    'finalized',
    'aborted',
  ]);
});

test('packages that are another one stand in their order, those only there at the end', () => {
  const changed = (name: string, from: string | null, to: string, more: object = {}) => ({
    name,
    type: 'unlocked',
    isOutOfSync: false,
    versions: { from, to },
    ...more,
  });
  const comparison = {
    packagesToInstall: [changed('new', null, '1')],
    packagesToUpdate: [
      changed('up', '1', '2'),
      changed('down', '3', '2', { isOutOfSync: true }),
      changed('same', '1', '1', { isOtherContent: true }),
    ],
    unchanged: [],
    totalChanges: 4,
    installOrder: ['up', 'new', 'same', 'down'],
    dependencyCycles: [],
  };
  const rows = changedPackages(comparison, [{ name: 'there', version: '5' }]);
  expect(rows.map(({ name, kind, from, to }) => [name, kind, from, to])).toEqual([
    ['up', 'update', '1', '2'],
    ['new', 'install', null, '1'],
    ['same', 'otherContent', '1', '1'],
    ['down', 'older', '3', '2'],
    ['there', 'onlyThere', '5', null],
  ]);
});

test.each([
  ['https://tracker.example/PROJ-1', 'https://tracker.example/PROJ-1'],
  ['HTTP://tracker.example', 'HTTP://tracker.example'],
  ['javascript:alert(1)', undefined],
  ['data:text/html,x', undefined],
  ['//tracker.example', undefined],
  ['https://', undefined],
  [null, undefined],
])('only addresses of the web are led to: %s', (url, expected) => {
  expect(isWebAddress(url) ? url : undefined).toBe(expected);
});

test('the share of a candidate in a work item', () => {
  const place = (id: string, presence: 'all' | 'some' | 'none' | 'unknown', present: number) => ({
    id,
    releaseName: id,
    branch: null,
    status: 'pending',
    createdAt: '2026-11-01T00:00:00Z',
    presence,
    present,
    total: 3,
    isNew: true,
  });
  const domain = (name: string, ...candidates: ReturnType<typeof place>[]) => ({
    domain: name,
    packages: [],
    candidates,
    environments: [],
    missingFromEnvironments: [],
  });
  const domains = [
    domain('sales', place('c1', 'some', 2), place('c2', 'all', 3)),
    domain('service', place('c3', 'none', 0)),
  ];
  expect(shareOf({ domains }, 'c1')).toEqual({
    presence: 'some',
    tone: 'wait',
    present: 2,
    total: 3,
    otherDomains: ['service'],
  });
  expect(shareOf({ domains }, 'c3')).toMatchObject({ presence: 'none', otherDomains: ['sales'] });
  expect(shareOf({ domains }, 'gone')).toMatchObject({ presence: 'unknown', otherDomains: ['sales', 'service'] });
});
