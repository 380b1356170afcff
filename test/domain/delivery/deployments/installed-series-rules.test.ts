import {
  arrivalOf,
  deploymentsOf,
  exceptRelease,
  installedSeries,
  lastSuccess,
  packagesOf,
  packagesOfArrival,
  runningBefore,
  runningNow,
  type SeriesDeployment,
} from '../../../../domain/delivery/deployments/installed-series-rules.ts';
import { isEffective } from '../../../../domain/delivery/deployments/deployed-rules.ts';
import { randomNumbers } from '../../../support/repository.ts';

const deployed = (
  at: number,
  releaseName: string,
  packages: Record<string, string>,
  more: Partial<SeriesDeployment> = {},
): SeriesDeployment => ({
  releaseName,
  at,
  status: 'Success',
  rolledBackAt: null,
  contentDigest: releaseName,
  commitSha: null,
  packages,
  installsAll: true,
  ...more,
});

const stretchesOf = (deployments: readonly SeriesDeployment[]) =>
  installedSeries(deployments).stretches.map(({ from, to, running }) => [
    from,
    to,
    running?.deployment.releaseName ?? null,
    packagesOf(running),
  ]);

/** The release against which one is held, and its packages. */
function baseOf(deployments: readonly SeriesDeployment[], releaseName: string) {
  const arrival = arrivalOf(installedSeries(deployments), releaseName);
  const before = exceptRelease(arrival?.before, releaseName);
  return [lastSuccess(before, releaseName)?.releaseName ?? null, packagesOf(before)];
}

test('what ran from when to when: what was taken back ran until then, and what was below it runs again', () => {
  const r1 = deployed(1, 'r1', { app: '1', lib: '1' });
  expect(stretchesOf([r1, deployed(2, 'r2', { app: '2' }, { rolledBackAt: 3 })])).toEqual([
    [1, 2, 'r1', { app: '1', lib: '1' }],
    [2, 3, 'r2', { app: '2', lib: '1' }],
    [3, null, 'r1', { app: '1', lib: '1' }],
  ]);
  // Taken back after another release came over it: that stays.
  expect(
    stretchesOf([r1, deployed(2, 'r2', { app: '2', lib: '2' }, { rolledBackAt: 4 }), deployed(3, 'fix', { app: '3' })]),
  ).toEqual([
    [1, 2, 'r1', { app: '1', lib: '1' }],
    [2, 3, 'r2', { app: '2', lib: '2' }],
    [3, 4, 'fix', { app: '3', lib: '2' }],
    [4, null, 'fix', { app: '3', lib: '1' }],
  ]);
  expect(stretchesOf([deployed(1, 'r1', { app: '1' }, { rolledBackAt: 2 })])).toEqual([
    [1, 2, 'r1', { app: '1' }],
    [2, null, null, {}],
  ]);
  expect(stretchesOf([])).toEqual([]);
});

test.each([
  ['Failed', [[1, null, 'r1', { app: '1' }]]],
  ['Cancelled', [[1, null, 'r1', { app: '1' }]]],
  [
    'Partial',
    [
      [1, 2, 'r1', { app: '1' }],
      [2, null, 'r2', { app: '2' }],
    ],
  ],
] as const)('a deployment that is %s runs as far as it installed something', (status, stretches) => {
  expect(stretchesOf([deployed(1, 'r1', { app: '1' }), deployed(2, 'r2', { app: '2' }, { status })])).toEqual(
    stretches,
  );
});

test('a release that was said to be taken back before it was deployed never ran', () => {
  expect(stretchesOf([deployed(1, 'r1', { app: '1' }), deployed(5, 'r2', { app: '2' }, { rolledBackAt: 4 })])).toEqual([
    [1, null, 'r1', { app: '1' }],
  ]);
});

const first = deployed(1, 'r1', { app: '1', lib: '1' });
const second = deployed(2, 'r2', { app: '2', lib: '1' });
const third = deployed(5, 'r3', { app: '3', lib: '1' });

test.each([
  ['annotated', [first, { ...second, rolledBackAt: 3 }, third]],
  ['done by deploying the release before again', [first, second, { ...first, at: 3 }, third]],
  ['done by deploying it again, and annotated', [first, { ...second, rolledBackAt: 4 }, { ...first, at: 3 }, third]],
])('after a rollback that was %s the next release is held against what ran again', (_, deployments) => {
  expect(baseOf(deployments, 'r3')).toEqual(['r1', { app: '1', lib: '1' }]);
  expect(baseOf(deployments, 'r2')).toEqual(['r1', { app: '1', lib: '1' }]);
  // What a release brought is what it brought when it came, and not when the environment came back to it.
  expect(baseOf(deployments, 'r1')).toEqual([null, {}]);
});

test('a release that was taken back and comes again is held against what ran meanwhile', () => {
  const deployments = [
    first,
    { ...second, rolledBackAt: 3 },
    deployed(4, 'fix', { app: '1.1' }),
    { ...second, at: 5, packages: { app: '2' } },
  ];
  expect(baseOf(deployments, 'r2')).toEqual(['fix', { app: '1.1', lib: '1' }]);
  const arrival = arrivalOf(installedSeries(deployments), 'r2');
  expect(arrival && packagesOfArrival(arrival)).toEqual({ app: '2' });
});

test('several deployments of a release one after another are one arrival, and those of an earlier content do not count', () => {
  const deployments = [
    first,
    { ...second, contentDigest: 'before', packages: { app: '1.9', old: '1' } },
    second,
    deployed(3, 'r2', { lib: '2' }),
    deployed(4, 'r2', {}, { status: 'Failed' }),
  ];
  const series = installedSeries(deployments);
  expect(series.arrivals.map((each) => each.releaseName)).toEqual(['r1', 'r2']);
  const arrival = arrivalOf(series, 'r2');
  expect(arrival && packagesOfArrival(arrival)).toEqual({ app: '2', lib: '2' });
  expect(baseOf(deployments, 'r2')).toEqual(['r1', { app: '1', lib: '1' }]);
});

test('a release of which only a part was installed did not come', () => {
  const partial = deployed(2, 'r2', { app: '2' }, { status: 'Partial', installsAll: false });
  expect(arrivalOf(installedSeries([first, partial]), 'r2')).toBeUndefined();
  expect(baseOf([first, partial, third], 'r3')).toEqual(['r1', { app: '2', lib: '1' }]);
});

test('a name such as __proto__ is a package like others', () => {
  const odd = Object.fromEntries([['__proto__', '1']]);
  expect(Object.entries(packagesOf(runningNow(installedSeries([deployed(1, 'r1', odd)]))))).toEqual([
    ['__proto__', '1'],
  ]);
});

test('what runs at any moment is what was installed until then and not taken back yet', () => {
  for (let seed = 1; seed <= (process.env.DEEP_TESTS ? 200 : 40); seed++) {
    const random = randomNumbers(seed);
    const deployments = Array.from({ length: 60 }, (_, number) => {
      const at = number * 10 + random(5) * 10;
      const packages = Object.fromEntries(
        ['a', 'b', 'c'].filter(() => random(2) === 0).map((name) => [name, `${number}`]),
      );
      return deployed(at, `r${random(8)}`, packages, {
        status: (['Success', 'Success', 'Partial', 'Failed'] as const)[random(4)] ?? 'Success',
        rolledBackAt: random(4) === 0 ? at + random(200) : null,
      });
    }).toSorted((a, b) => a.at - b.at);
    const series = installedSeries(deployments);
    const expectedAt = (moment: number) =>
      deployments.filter(
        ({ at, status, rolledBackAt }) =>
          isEffective({ status, isRolledBack: false }) &&
          at < moment &&
          (rolledBackAt === null || rolledBackAt >= moment),
      );
    for (let moment = 0; moment < 900; moment += 7)
      expect([seed, moment, deploymentsOf(runningBefore(series, moment))]).toEqual([seed, moment, expectedAt(moment)]);
    const now = deployments.filter(({ status, rolledBackAt }) =>
      isEffective({ status, isRolledBack: rolledBackAt !== null }),
    );
    expect(deploymentsOf(runningNow(series))).toEqual(now);
    expect(packagesOf(runningNow(series))).toEqual(Object.assign({}, ...now.map(({ packages }) => packages)));
  }
});
