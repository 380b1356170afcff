import {
  cascadeSource,
  currentBuild,
  dispatchStatus,
  whyExcluded,
} from '../../../../domain/ci/builds/build-plan-rules.ts';
import {
  type BuildReport,
  type BuildState,
  eventOfTransition,
  isNewer,
  overallState,
  skipReason,
} from '../../../../domain/ci/builds/build-state-rules.ts';
import { domainPackages, domainsOf } from '../../../../domain/ci/builds/domain-packages-rules.ts';

const report = (state: BuildState, at: string | null): BuildReport => ({ state, at, url: null });
const [early, late] = ['2026-03-02T09:30:00.000Z', '2026-03-02T09:30:01.000Z'];

test.each<[string, BuildReport, BuildReport | undefined, boolean]>([
  ['that is the first', report('pending', null), undefined, true],
  ['that is later', report('running', late), report('succeeded', early), true],
  ['that is earlier', report('succeeded', early), report('running', late), false],
  ['of the same time and further', report('failed', late), report('running', late), true],
  ['of the same time and not as far', report('running', late), report('failed', late), false],
  ['that is repeated', report('failed', late), report('failed', late), false],
  ['without a time after one with', report('failed', null), report('running', late), false],
])('a report %s', (_, reported, known, isRecorded) => {
  expect(isNewer(reported, known)).toBe(isRecorded);
});

test.each<[BuildState[], BuildState]>([
  [[], 'pending'],
  [['pending', 'pending'], 'pending'],
  [['pending', 'succeeded'], 'running'],
  [['running', 'failed'], 'running'],
  [['succeeded', 'succeeded'], 'succeeded'],
  [['succeeded', 'failed', 'cancelled'], 'failed'],
  [['succeeded', 'cancelled'], 'cancelled'],
])('builds that are %j are %s together', (states, overall) => {
  expect(overallState(Object.fromEntries(states.map((state, index) => [index, report(state, null)])))).toBe(overall);
});

test.each<[BuildState | null, BuildState, string | undefined]>([
  [null, 'pending', 'build.started'],
  [null, 'running', 'build.started'],
  [null, 'succeeded', 'build.completed'],
  ['pending', 'running', undefined],
  ['running', 'running', undefined],
  ['running', 'succeeded', 'build.completed'],
  ['running', 'cancelled', 'build.failed'],
  ['succeeded', 'running', 'build.started'],
  ['succeeded', 'failed', 'build.failed'],
])('from %s to %s: %s', (before, after, event) => {
  expect(eventOfTransition(before, after)).toBe(event);
});

test('a marker in the message skips the build', () => {
  expect(skipReason('Fix [skip ci]')).toContain('[skip ci]');
  expect([skipReason('skip ci'), skipReason(null)]).toEqual([null, null]);
});

test('a project that names branches has these, its default branch and its cascade built, another one all', () => {
  const project = {
    defaultBranch: 'main',
    configuration: { branches: ['release/*'], cascade: [{ from: 'hotfix/**', to: 'develop' }] },
  };
  const excluded = ['main', 'release/1', 'release/1/x', 'hotfix/a/b', 'develop', 'feature/1'].filter(
    (branch) => whyExcluded(branch, project) !== null,
  );
  expect(excluded).toEqual(['release/1/x', 'feature/1']);
  expect(
    whyExcluded('feature/1', { ...project, configuration: { cascade: project.configuration.cascade } }),
  ).toBeNull();
  expect([cascadeSource('develop', project), cascadeSource('main', project)]).toEqual(['hotfix/**', null]);
});

test('an existing build goes before one that could be started', () => {
  const nothing = { isExcluded: false, hasPipeline: false, hasCommand: false, existing: undefined };
  expect(dispatchStatus({ ...nothing, isExcluded: true, existing: 'running' })).toBe('active');
  expect(dispatchStatus({ ...nothing, existing: 'succeeded' })).toBe('completed');
  expect(dispatchStatus({ ...nothing, isExcluded: true, hasPipeline: true })).toBe('excluded');
  expect(dispatchStatus({ ...nothing, hasPipeline: true })).toBe('available');
  expect(dispatchStatus({ ...nothing, hasCommand: true })).toBe('available');
  expect(dispatchStatus(nothing)).toBe('unavailable');
  expect(currentBuild([{ status: 'failed' }, { status: 'succeeded' }])).toEqual({ status: 'succeeded' });
  expect(currentBuild([{ status: 'cancelled' }])).toBeUndefined();
});

test('a domain that lists no packages has those that no other lists', () => {
  const domains = domainPackages(['rest', { name: 'sales', packages: ['ui', 'api'] }], ['ui', 'log', 'api']);
  expect(domains).toEqual([
    { name: 'rest', packages: ['log'] },
    { name: 'sales', packages: ['api', 'ui'] },
  ]);
  expect(domainsOf(domains, new Set(['ui']))).toEqual([{ name: 'sales', packages: ['ui'] }]);
});
