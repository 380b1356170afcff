import { inUseSince, type SoakReport } from '../../../../domain/delivery/deployments/soak-rules.ts';

const content = { candidateId: 'r1', contentDigest: 'x', domain: 'core', artifacts: { app: '1', lib: '1' } };

type Given = Partial<SoakReport> & Pick<SoakReport, 'deployedAt'>;
/** A report of `r1` unless it says otherwise; times in minutes. */
const report = (
  { deployedAt, receivedAt = deployedAt, candidateId = 'r1', ...more }: Given,
  index: number,
): SoakReport => ({
  id: String(index),
  candidateId,
  contentDigest: 'x',
  status: 'Success',
  deployedAt,
  receivedAt,
  knownAt: Math.max(deployedAt, receivedAt),
  isRolledBack: (more.takenBackAt ?? null) !== null,
  takenBackAt: null,
  installed: candidateId === 'r1' ? content.artifacts : { app: '2', lib: '1' },
  domain: 'core',
  ...more,
});

test.each<[string, Given[], number | null]>([
  ['nothing', [], null],
  ['since it was deployed', [{ deployedAt: 10 }], 10],
  ['from the receipt of a report that claims an earlier time', [{ deployedAt: 10, receivedAt: 70 }], 70],
  ['from the time of a host whose clock is ahead', [{ deployedAt: 75, receivedAt: 70 }], 75],
  ['replaced by another release', [{ deployedAt: 10 }, { deployedAt: 15, candidateId: 'r2' }], null],
  [
    'replaced, whenever the report of it came and however early a new one claims to be',
    [{ deployedAt: 10 }, { deployedAt: 15, candidateId: 'r2' }, { deployedAt: 11, receivedAt: 70 }],
    null,
  ],
  ['from its return', [{ deployedAt: 10 }, { deployedAt: 15, candidateId: 'r2' }, { deployedAt: 20 }], 20],
  ['from its first deployment of several', [{ deployedAt: 10 }, { deployedAt: 20 }], 10],
  [
    'replaced by its own other content',
    [{ deployedAt: 10 }, { deployedAt: 15, contentDigest: 'y', installed: content.artifacts }],
    null,
  ],
  ['failed', [{ deployedAt: 10 }, { deployedAt: 15, status: 'Failed', installed: {} }], null],
  [
    'from the success after a failure',
    [{ deployedAt: 10 }, { deployedAt: 15, status: 'Failed', installed: {} }, { deployedAt: 20 }],
    20,
  ],
  [
    'whatever failed of others',
    [{ deployedAt: 10 }, { deployedAt: 15, candidateId: 'r2', status: 'Failed', installed: {} }],
    10,
  ],
  ['rolled back', [{ deployedAt: 10, takenBackAt: 30 }], null],
  [
    'since what replaced it was taken back',
    [{ deployedAt: 10 }, { deployedAt: 15, candidateId: 'r2', takenBackAt: 40 }],
    40,
  ],
  [
    'in parts: from the last',
    [
      { deployedAt: 10, status: 'Partial', installed: { app: '1' } },
      { deployedAt: 12, receivedAt: 30 },
    ],
    30,
  ],
  [
    'returned in part: the rest is still replaced',
    [
      { deployedAt: 10 },
      { deployedAt: 15, candidateId: 'r2', installed: { app: '2', lib: '2' } },
      { deployedAt: 20, status: 'Partial', installed: { app: '1' } },
    ],
    null,
  ],
  [
    'a package replaced by another domain',
    [{ deployedAt: 10 }, { deployedAt: 15, candidateId: 'other', domain: 'sales', installed: { lib: '2' } }],
    null,
  ],
  [
    'the same versions by another domain',
    [{ deployedAt: 10 }, { deployedAt: 15, candidateId: 'other', domain: 'sales', installed: { lib: '1' } }],
    10,
  ],
])('in use without interruption: %s', (_, reports, since) =>
  expect(inUseSince(content, reports.map(report).toReversed())).toBe(since),
);
