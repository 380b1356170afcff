import fc from 'fast-check';
import {
  deploymentFact,
  isEffective,
  openPackages,
  runningPackages,
  type StoredReport,
} from '../../../../domain/delivery/deployments/deployed-rules.ts';
import { artifactsOf, factByDefinition, reportSeries } from '../../../support/deployment-model.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const artifacts = { a: '2', b: '1', c: '1' };
const content = { candidateId: 'own', contentDigest: 'now', artifacts };

/** Reports in order, a minute after another; those of the content in question unless they say otherwise. */
const at = (index: number) => Date.UTC(2026, 10, 22, 10, index);
const reports = (...some: Partial<StoredReport>[]): StoredReport[] =>
  some.map((each, index) => ({
    id: `${index}`,
    candidateId: 'own',
    contentDigest: 'now',
    status: 'Success',
    deployedAt: at(index),
    receivedAt: 0,
    isRolledBack: false,
    installed: each.status === 'Failed' || each.status === 'Cancelled' ? {} : artifacts,
    ...each,
  }));
const deployed = (index: number) => ({
  isDeployed: true,
  deployedAt: new Date(at(index)).toISOString(),
  reason: null,
  packages: [],
});
const missing = (reason: string, packages: string[]) => ({ isDeployed: false, deployedAt: null, reason, packages });
const ALL = ['a', 'b', 'c'];
const other = { candidateId: 'other', contentDigest: 'others' };
const earlier = { contentDigest: 'earlier' };

test.each([
  ['nothing was reported', [], missing('never', ALL)],
  ['only something that was cancelled', [{ status: 'Cancelled' }], missing('never', ALL)],
  ['a success', [{}], deployed(0)],
  ['a later release replaces it', [{}, { ...other, installed: { a: '3', b: '3', c: '3' } }], deployed(0)],
  ['one package of three', [{ installed: { a: '2' } }], missing('partial', ['b', 'c'])],
  ['a package in another version', [{ installed: { ...artifacts, a: '9' } }], missing('partial', ['a'])],
  [
    'parts complete it',
    [
      { status: 'Partial', installed: { a: '2', b: '1' } },
      { status: 'Partial', installed: { c: '1' } },
    ],
    deployed(1),
  ],
  ['a failure', [{ status: 'Failed' }], missing('failed', ALL)],
  ['a failure after a success', [{}, { status: 'Failed' }], missing('failed', [])],
  ['a failure, then something cancelled', [{}, { status: 'Failed' }, { status: 'Cancelled' }], missing('failed', [])],
  ['a failure, then a part', [{}, { status: 'Failed' }, { status: 'Partial', installed: {} }], deployed(2)],
  ['a success that was taken back', [{ isRolledBack: true }], missing('rolled_back', ALL)],
  ['a success after one that was taken back', [{ isRolledBack: true }, {}], deployed(1)],
  [
    'a part after a success that was taken back, which another had preceded',
    [{}, { isRolledBack: true }, { status: 'Partial', installed: { a: '2' } }],
    missing('partial', ['b', 'c']),
  ],
  [
    'a part after a success that was taken back',
    [{ isRolledBack: true }, { status: 'Partial', installed: { a: '2' } }],
    missing('partial', ['b', 'c']),
  ],
  ['a success of earlier content', [earlier], missing('other_content', ALL)],
  ['a failure of earlier content', [{ ...earlier, status: 'Failed' }], missing('never', ALL)],
  ['content that was posted back', [{}, earlier], deployed(0)],
  ['a failure of earlier content after a success', [{}, { ...earlier, status: 'Failed' }], deployed(0)],
  [
    'a package runs by the report of another candidate',
    [{ ...other, installed: { b: '1' } }, { installed: { a: '2', c: '1' } }],
    deployed(1),
  ],
  [
    'it comes later by the report of another',
    [{ installed: { a: '2', c: '1' } }, { ...other, installed: { b: '1' } }],
    deployed(1),
  ],
  [
    'and is replaced',
    [{ ...other, installed: { b: '1' } }, { installed: { a: '2', c: '1' } }, { ...other, installed: { b: '2' } }],
    deployed(1),
  ],
  [
    'it was replaced before',
    [{ ...other, installed: { b: '1' } }, { ...other, installed: { b: '2' } }, { installed: { a: '2', c: '1' } }],
    missing('partial', ['b']),
  ],
  [
    'the report of the other was taken back',
    [{ ...other, installed: { b: '1' }, isRolledBack: true }, { installed: { a: '2', c: '1' } }],
    missing('partial', ['b']),
  ],
  [
    'only earlier content reported the package',
    [{ ...earlier, installed: { b: '1' } }, { installed: { a: '2', c: '1' } }],
    missing('partial', ['b']),
  ],
  [
    'earlier content reported it, too',
    [{ ...other, installed: { b: '1' } }, { ...earlier, installed: { b: '1' } }, { installed: { a: '2', c: '1' } }],
    deployed(2),
  ],
  ['all of it runs by others', [{ ...other }], missing('never', ALL)],
] as [string, Partial<StoredReport>[], object][])('%s', (_, some, fact) => {
  expect(deploymentFact(content, reports(...some))).toMatchObject(fact);
});

test('a candidate without packages is deployed by a success, not by a part', () => {
  const empty = { ...content, artifacts: {} };
  expect(deploymentFact(empty, reports({ status: 'Partial', installed: {} }))).toMatchObject(missing('partial', []));
  expect(deploymentFact(empty, reports({ installed: {} }))).toMatchObject(deployed(0));
  expect(deploymentFact(empty, reports({ installed: {}, isRolledBack: true }))).toMatchObject(
    missing('rolled_back', []),
  );
});

test('of each package the newest effective report wins', () => {
  expect(
    runningPackages(
      reports(
        { installed: { a: '1', b: '1' } },
        { status: 'Partial', installed: { b: '2' } },
        { installed: { a: '9', c: '9' }, isRolledBack: true },
        { status: 'Failed' },
      ),
    ),
  ).toEqual({ a: '1', b: '2' });
});

test('facts are as their definition says, whatever is reported and in whatever order', () => {
  let deployedOnes = 0;
  fc.assert(
    fc.property(artifactsOf, reportSeries, fc.infiniteStream(fc.boolean()), (held, some, isWhole) => {
      const facts = { ...content, artifacts: held };
      // What installs all of the content has its very object, as where reports are read.
      const series = some.map((each) =>
        each.contentDigest === 'now' && isEffective(each) && isWhole.next().value ? { ...each, installed: held } : each,
      );
      const fact = deploymentFact(facts, series.toReversed());
      expect(fact).toEqual(factByDefinition(facts, series));
      const copies = series.map((each) => ({ ...each, installed: { ...each.installed } }));
      expect(openPackages(facts, series)?.packages).toEqual(openPackages(facts, copies)?.packages);
      if (fact.isDeployed && Object.keys(held).length > 1) deployedOnes++;
    }),
    propertyRuns(4_000, 20_000),
  );
  expect(deployedOnes).toBeGreaterThan(100);
});

test('reports of other candidates matter for open packages only', () => {
  fc.assert(
    fc.property(artifactsOf, reportSeries, (held, series) => {
      const facts = { ...content, artifacts: held };
      const own = series.filter(({ candidateId }) => candidateId === 'own');
      const open = openPackages(facts, own);
      const needed = series.filter(
        ({ candidateId, installed }) => candidateId === 'own' || open?.packages.some((name) => name in installed),
      );
      expect(deploymentFact(facts, needed)).toEqual(deploymentFact(facts, series));
    }),
    propertyRuns(1_000, 5_000),
  );
});
