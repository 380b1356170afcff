import {
  afterEvent,
  afterOrgCheck,
  decided,
  derived,
  foldComponents,
  GC_STATUSES,
  type GcStatus,
  type ManifestFacts,
} from '../../../../domain/orgs/gc-ledger/gc-ledger-rules.ts';

const inStatus = (status: GcStatus) => ({ status, movedTo: null, ownerProjectId: null });
const NOTHING: ManifestFacts = {
  hasOwnManifest: true,
  isInOwnManifest: false,
  otherPackage: null,
  isDestroyed: false,
  ownerProjectId: null,
};
const EVERYTHING: ManifestFacts = {
  hasOwnManifest: true,
  isInOwnManifest: true,
  otherPackage: 'web',
  isDestroyed: true,
  ownerProjectId: 'p',
};

test('an event sets the status, unless it is dismissed', () => {
  expect(afterEvent(undefined, 'detected')).toEqual(inStatus('detected'));
  expect(afterEvent(undefined, 'moved')).toEqual(inStatus('moved'));
  for (const status of GC_STATUSES)
    for (const event of ['detected', 'moved'] as const)
      expect(afterEvent(inStatus(status), event).status).toBe(status === 'dismissed' ? status : event);
  const moved = { ...inStatus('moved'), movedTo: 'web' };
  expect(afterEvent(moved, 'moved')).toBe(moved);
});

test('of what manifests say, the first that applies counts', () => {
  const steps: [Partial<ManifestFacts>, object][] = [
    [{}, inStatus('restored')],
    [{ isInOwnManifest: false }, { ...inStatus('moved'), movedTo: 'web' }],
    [{ otherPackage: null }, inStatus('handled')],
    [{ isDestroyed: false }, { ...inStatus('owned-elsewhere'), ownerProjectId: 'p' }],
    [{ ownerProjectId: null }, inStatus('detected')],
  ];
  const facts = { ...EVERYTHING };
  for (const [change, expected] of steps) {
    Object.assign(facts, change);
    expect(derived(inStatus('detected'), facts)).toEqual(expected);
    expect(derived(inStatus('detected'), { ...facts, hasOwnManifest: false })).toEqual(inStatus('detected'));
  }
});

test.each(GC_STATUSES)('what manifests change of %s', (status) => {
  const isOpen = status === 'detected' || status === 'moved';
  expect(derived(inStatus(status), EVERYTHING).status).toBe(isOpen || status === 'dismissed' ? 'restored' : status);
  expect(derived(inStatus(status), { ...NOTHING, isDestroyed: true }).status).toBe(isOpen ? 'handled' : status);
  expect(derived(inStatus(status), NOTHING)).toEqual(inStatus(status));
});

test.each<[GcStatus, GcStatus | undefined, GcStatus | undefined]>([
  ['detected', 'dismissed', 'detected'],
  ['dismissed', 'dismissed', 'detected'],
  ['moved', undefined, undefined],
  ['handled', undefined, undefined],
  ['restored', undefined, undefined],
  ['owned-elsewhere', undefined, undefined],
  ['reclaimed', undefined, undefined],
])('%s: dismissed it is %s, reopened %s', (status, dismissed, reopened) => {
  expect([decided(status, 'dismiss'), decided(status, 'reopen')]).toEqual([dismissed, reopened]);
});

test.each<
  [
    string,
    { absent: number; absentInRelease: number; presentInRelease: number },
    { all: number; release: number },
    (status: GcStatus) => GcStatus | 'removed',
  ]
>([
  [
    'no environment',
    { absent: 0, absentInRelease: 0, presentInRelease: 0 },
    { all: 0, release: 0 },
    (status) => status,
  ],
  [
    'absent everywhere',
    { absent: 3, absentInRelease: 2, presentInRelease: 0 },
    { all: 3, release: 2 },
    () => 'removed',
  ],
  [
    'absent where nothing is released',
    { absent: 1, absentInRelease: 0, presentInRelease: 0 },
    { all: 2, release: 0 },
    (status) => status,
  ],
  [
    'absent in one release of two',
    { absent: 2, absentInRelease: 1, presentInRelease: 0 },
    { all: 3, release: 2 },
    (status) => status,
  ],
  [
    'absent in all releases',
    { absent: 2, absentInRelease: 2, presentInRelease: 0 },
    { all: 3, release: 2 },
    (status) => (['dismissed', 'restored'].includes(status) ? status : 'reclaimed'),
  ],
  [
    'present in a release',
    { absent: 2, absentInRelease: 1, presentInRelease: 1 },
    { all: 3, release: 2 },
    (status) => (status === 'reclaimed' ? 'detected' : status),
  ],
])('a check of orgs with evidence %s', (_, evidence, tracking, expected) => {
  for (const status of GC_STATUSES) expect(afterOrgCheck(status, evidence, tracking)).toBe(expected(status));
});

test('repeated components fold to the last of them, whatever their names', () => {
  const name = (packageName: string, componentType: string, fullName: string, n: number) => ({
    packageName,
    componentType,
    fullName,
    n,
  });
  const folded = foldComponents([
    name('a', 'b', 'c', 1),
    name('a","b', 'c', 'd', 2),
    name('a', 'b', 'c', 3),
    name('a', 'b","c', 'd', 4),
  ]);
  expect(folded.map(({ n }) => n)).toEqual([3, 2, 4]);
});
