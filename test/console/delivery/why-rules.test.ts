import { isFinal, toneOfStatus, type Why, whyOf } from '../../../console/delivery/candidates/why-rules.ts';
import { shareOf } from '../../../console/delivery/candidates/work-item-rules.ts';
import { changedPackages, webAddress } from '../../../console/delivery/changes/changes-rules.ts';
import type { CellState } from '../../../console/delivery/where/matrix-rules.ts';

const COLUMNS = [
  { name: 'dev', category: 'dev' as const },
  { name: 'uat', category: 'release' as const },
  { name: 'live', category: 'release' as const },
];
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
  ['not known', candidate, undefined, { kind: 'unknown' }],
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
  expect(whyOf(facts, row, COLUMNS, approvals)).toMatchObject(why);
});

test.each<[string, { category: string; environmentName: string | null }[], string]>([
  [
    'to an environment',
    [
      { category: 'release', environmentName: null },
      { category: 'release', environmentName: 'uat' },
    ],
    'requested',
  ],
  ['to several', [{ category: 'release', environmentName: null }], 'requested'],
  ['nowhere', [{ category: 'testing', environmentName: 'uat' }], 'missing'],
])('a run that takes it %s and has come to no gate counts', (_, runs, kind) => {
  expect(whyOf(candidate, at('deployed', 'never', 'never'), COLUMNS, [], runs).kind).toBe(kind);
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
  expect(webAddress(url)).toBe(expected);
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
