import type { Deployment, DeploymentDetails } from '../../../../domain/orgs/crm/crm-deployments.port.ts';
import {
  pollSeconds,
  problemText,
  progressOf,
  stageOf,
  verdictOf,
} from '../../../../domain/delivery/org-deployments/deployment-outcome-rules.ts';

const details = (more: Partial<DeploymentDetails> = {}): DeploymentDetails => ({
  failures: [],
  warnings: [],
  changes: { created: 0, changed: 1, deleted: 0, unchanged: 0 },
  testFailures: [],
  testsRun: 0,
  testsFailed: 0,
  coverageWarnings: [],
  coverage: [],
  ...more,
});
const ended = (more: Partial<Deployment> = {}): Deployment => ({
  deploymentId: '0Af000000000001AAA',
  status: 'Succeeded',
  isDone: true,
  isSuccess: true,
  checkOnly: false,
  testsEnabled: false,
  stateDetail: null,
  components: { total: 1, deployed: 1, errors: 0 },
  tests: { total: 0, completed: 0, errors: 0 },
  error: null,
  canceledBy: null,
  options: null,
  details: details(),
  ...more,
});
const failed = (more: Partial<Deployment> = {}) => ended({ status: 'Failed', isSuccess: false, ...more });
const failure = {
  type: 'ApexClass',
  fullName: 'Invoice',
  fileName: 'classes/Invoice.cls',
  line: 2,
  column: 7,
  problem: 'Variable does not exist: Missing__c',
};

test('a success is one in every part', () => {
  expect(verdictOf(ended())).toEqual({ status: 'succeeded' });
  const remark = { name: null, message: 'Average test coverage across all Apex Classes and Triggers is 40%' };
  expect(verdictOf(ended({ details: details({ coverageWarnings: [remark] }) }))).toEqual({ status: 'succeeded' });
});

test.each<[string, Deployment, string]>([
  ['a failure that nothing explains', failed(), 'ended as Failed, and not why'],
  [
    'an error of the org alone',
    failed({ error: { code: 'UNKNOWN_EXCEPTION', message: 'gack' } }),
    'UNKNOWN_EXCEPTION: gack',
  ],
  ['a status that contradicts its flag', ended({ isSuccess: false }), 'ended as Succeeded'],
  ['a part', ended({ status: 'SucceededPartial' }), 'only a part'],
  ['a success with a failed component', ended({ details: details({ failures: [failure] }) }), 'Missing__c'],
  ['a success with an error that is counted', ended({ components: { total: 2, deployed: 1, errors: 1 } }), 'not why'],
  [
    'failed tests',
    failed({ details: details({ testFailures: [{ className: 'T', method: 'm', message: 'no', stackTrace: null }] }) }),
    'no',
  ],
  ['coverage alone', failed({ details: details({ coverageWarnings: [{ name: 'A', message: 'is 40%' }] }) }), 'is 40%'],
  ['a failure while it was finalized', failed({ status: 'FinalizingDeployFailed' }), 'FinalizingDeployFailed'],
])('%s is none', (_, deployment, text) => {
  const verdict = verdictOf(deployment);
  expect(verdict).toMatchObject({ status: 'failed', isLocked: false });
  expect(JSON.stringify(verdict)).toContain(text);
});

test('a failure names component, file, line and what to do', () => {
  const verdict = verdictOf(failed({ details: details({ failures: [failure] }) }));
  expect(verdict.status === 'failed' && verdict.problems.map(problemText)).toEqual([
    'ApexClass Invoice (classes/Invoice.cls:2:7): Variable does not exist: Missing__c – The field, variable or class is not in the org: deploy it as well, or check its name.',
  ]);
});

test('nothing but a lock may be tried again', () => {
  const lock = { code: 'ALREADY_IN_PROCESS', message: 'the administration setup has already been locked' };
  expect(verdictOf(failed({ error: lock }))).toMatchObject({ isLocked: true });
  expect(verdictOf(failed({ error: lock, details: details({ failures: [failure] }) }))).toMatchObject({
    isLocked: false,
  });
});

test('one that was cancelled says by whom', () => {
  expect(verdictOf(failed({ status: 'Canceled', canceledBy: 'Grace' }))).toEqual({ status: 'cancelled', by: 'Grace' });
});

test('progress counts components, then tests', () => {
  const running = ended({ isDone: false, status: 'InProgress', components: { total: 4, deployed: 1, errors: 1 } });
  expect(progressOf(running)).toEqual({
    percent: 50,
    counts: { components: 4, componentsDone: 2, componentErrors: 1 },
  });
  expect(progressOf({ ...running, testsEnabled: true }).percent).toBe(25);
  expect(stageOf({ ...running, status: 'Pending' })).toContain('Waiting');
  expect(stageOf({ ...running, stateDetail: 'Running Test: A' })).toBe('Running Test: A');
});

test('an org is asked less often the longer something takes', () => {
  expect([0, 5, 20, 120].map((minutes) => pollSeconds(minutes * 60_000))).toEqual([3, 10, 30, 60]);
});
