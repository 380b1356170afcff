import { cascadeSource, dispatchStatus, whyExcluded } from '../../../domain/builds/build-plan-rules.ts';
import {
  type BuildContext,
  type BuildState,
  eventOfMove,
  isNewer,
  overallState,
  skipReason,
} from '../../../domain/builds/build-state-rules.ts';
import { domainPackages, domainsOf } from '../../../domain/builds/domain-packages-rules.ts';

const context = (state: BuildState, at: string | null): BuildContext => ({ state, at, url: null });
const [early, late] = ['2026-03-02T09:30:00.000Z', '2026-03-02T09:30:01.000Z'];

test.each<[string, BuildContext, BuildContext | undefined, boolean]>([
  ['the first', context('pending', null), undefined, true],
  ['later', context('running', late), context('succeeded', early), true],
  ['earlier', context('succeeded', early), context('running', late), false],
  ['at once and further', context('failed', late), context('running', late), true],
  ['at once and not as far', context('running', late), context('failed', late), false],
  ['the same again', context('failed', late), context('failed', late), false],
  ['without a time after one with', context('failed', null), context('running', late), false],
])('what is told %s', (_, told, known, isTaken) => {
  expect(isNewer(told, known)).toBe(isTaken);
});

test.each<[BuildState[], BuildState]>([
  [[], 'pending'],
  [['pending', 'pending'], 'pending'],
  [['pending', 'succeeded'], 'running'],
  [['running', 'failed'], 'running'],
  [['succeeded', 'succeeded'], 'succeeded'],
  [['succeeded', 'failed', 'cancelled'], 'failed'],
  [['succeeded', 'cancelled'], 'cancelled'],
])('builds that are %j come to %s', (states, overall) => {
  expect(overallState(Object.fromEntries(states.map((state, index) => [index, context(state, null)])))).toBe(overall);
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
  expect(eventOfMove(before, after)).toBe(event);
});

test('words in a message ask for no build', () => {
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

test('what there is goes before what could be started', () => {
  expect(dispatchStatus({ isExcluded: true, isAvailable: false, existing: 'active' })).toBe('active');
  expect(dispatchStatus({ isExcluded: true, isAvailable: true, existing: null })).toBe('excluded');
  expect(dispatchStatus({ isExcluded: false, isAvailable: true, existing: null })).toBe('available');
  expect(dispatchStatus({ isExcluded: false, isAvailable: false, existing: null })).toBe('unavailable');
});

test('a domain that lists no packages has those that no other lists', () => {
  const domains = domainPackages(['rest', { name: 'sales', packages: ['ui', 'api'] }], ['ui', 'log', 'api']);
  expect(domains).toEqual([
    { name: 'rest', packages: ['log'] },
    { name: 'sales', packages: ['api', 'ui'] },
  ]);
  expect(domainsOf(domains, new Set(['ui']))).toEqual([{ name: 'sales', packages: ['ui'] }]);
});
