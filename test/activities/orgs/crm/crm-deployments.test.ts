import type { DeployOrder } from '../../../../domain/orgs/crm/crm-deployments.port.ts';
import type { CrmOrg } from '../../../../domain/orgs/crm/crm-platform.port.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';
import { accessTo, failureOf, simulatedPlatform, valueOf } from '../../../support/crm.ts';
import { archiveZip, classesZip, deployArchive } from '../../../support/deploy-archive.ts';

const given = simulatedPlatform();
let simulated: SimulatedOrg;
let org: CrmOrg;
beforeEach(() => {
  simulated = given.crm.org('acme-uat');
  org = given.platform.org(accessTo(given.platform, simulated));
});

const start = async (zip: Buffer, more: Partial<DeployOrder> = {}): Promise<string> =>
  valueOf(
    await org.startDeployment({
      ignoreWarnings: true,
      archive: deployArchive(zip),
      checkOnly: false,
      testLevel: 'default',
      tests: [],
      ...more,
    }),
  ).deploymentId;

async function ended(id: string) {
  for (;;) {
    const { isDone } = valueOf(await org.deploymentStatus(id));
    if (isDone) return valueOf(await org.deploymentStatus(id, { includeDetails: true }));
  }
}

const TEST_CLASS =
  '@isTest\nclass InvoiceTest {\n  @isTest static void adds() {}\n  @isTest static void rounds() {}\n}';

test('an archive is sent as it is read, and what it holds is what the org has then', async () => {
  const large = 'x'.repeat(3_000_000);
  const id = await start(classesZip({ Invoice: `class Invoice { /* ${large} */ }`, InvoiceTest: TEST_CLASS }), {
    testLevel: 'RunLocalTests',
  });
  expect(id).toMatch(/^0Af\w{15}$/);
  const found = valueOf(await org.deploymentStatus(id));
  expect(found).toMatchObject({ isDone: false, status: 'Pending', details: null });
  await expect(ended(id)).resolves.toMatchObject({
    status: 'Succeeded',
    isSuccess: true,
    testsEnabled: true,
    components: { total: 2, deployed: 2, errors: 0 },
    tests: { total: 2, completed: 2, errors: 0 },
    error: null,
    details: { failures: [], changes: { created: 2, changed: 0, deleted: 0, unchanged: 0 }, testsRun: 2 },
  });
  expect(simulated.deployments.components.names()).toEqual(['ApexClass:Invoice', 'ApexClass:InvoiceTest']);
  await ended(await start(classesZip({ Invoice: 'class Invoice {}' }, { ApexClass: ['InvoiceTest', 'Absent'] })));
  expect(simulated.deployments.ledger.at(-1)).toMatchObject({ deletions: ['ApexClass:InvoiceTest'] });
  expect(simulated.deployments.components.names()).toEqual(['ApexClass:Invoice']);
});

test('an archive is sent anew where the credential was renewed', async () => {
  const zip = classesZip({ Invoice: 'class Invoice {}' });
  await ended(await start(zip));
  simulated.endSessions();
  await expect(ended(await start(zip))).resolves.toMatchObject({
    isSuccess: true,
    details: { changes: { unchanged: 1 } },
  });
  expect(simulated.deployments.all).toHaveLength(2);
});

test('components fail with their place, tests with their method; nothing is taken then', async () => {
  const { deployments } = simulated;
  deployments.problems = [{ pattern: /Missing__c/, problem: 'Variable does not exist: Missing__c' }];
  const zip = classesZip({ Good: 'class Good {}', Invoice: 'class Invoice {\n  Object o = Missing__c;\n}' });
  const failed = await ended(await start(zip));
  expect(failed).toMatchObject({
    status: 'Failed',
    isSuccess: false,
    components: { total: 2, deployed: 1, errors: 1 },
    details: {
      failures: [
        {
          type: 'ApexClass',
          fullName: 'Invoice',
          fileName: 'classes/Invoice.cls',
          line: 2,
          column: 1,
          problem: 'Variable does not exist: Missing__c',
        },
      ],
    },
  });
  deployments.failingTests.set('InvoiceTest.rounds', { message: 'Assertion Failed: Expected: 1, Actual: 2' });
  await expect(
    ended(await start(classesZip({ InvoiceTest: TEST_CLASS }), { testLevel: 'RunLocalTests' })),
  ).resolves.toMatchObject({
    status: 'Failed',
    tests: { total: 2, completed: 1, errors: 1 },
    details: {
      failures: [],
      testsFailed: 1,
      testFailures: [
        {
          className: 'InvoiceTest',
          method: 'rounds',
          message: 'Assertion Failed: Expected: 1, Actual: 2',
          stackTrace: 'Class.InvoiceTest.rounds: line 3, column 1',
        },
      ],
    },
  });
  expect(deployments.ledger).toEqual([]);
});

test('a failure without components, and coverage that is too low, are seen', async () => {
  const { deployments } = simulated;
  deployments.failures = [{ errorStatusCode: 'UNKNOWN_EXCEPTION', errorMessage: 'gack 123' }];
  await expect(ended(await start(classesZip({ A: 'class A {}' })))).resolves.toMatchObject({
    isSuccess: false,
    error: { code: 'UNKNOWN_EXCEPTION', message: 'gack 123' },
    details: { failures: [], testFailures: [], coverageWarnings: [] },
  });
  deployments.coverage.set('A', { lines: 10, uncovered: 6 });
  const zip = classesZip({ A: 'class A {}', ATest: '@isTest class ATest { @isTest static void a() {} }' });
  await expect(ended(await start(zip, { testLevel: 'RunSpecifiedTests', tests: ['ATest'] }))).resolves.toMatchObject({
    isSuccess: false,
    details: {
      failures: [],
      coverage: [{ name: 'A', lines: 10, uncovered: 6 }],
      coverageWarnings: [{ name: 'A', message: expect.stringContaining('40%') }],
    },
  });
});

test('one runs at a time; one that waits is cancelled at once, one under way later, one that is over not', async () => {
  const release = simulated.deployments.occupy();
  const waiting = await start(classesZip({ A: 'class A {}' }));
  expect(valueOf(await org.deploymentStatus(waiting))).toMatchObject({ status: 'Pending', isDone: false });
  expect(valueOf(await org.cancelDeployment(waiting))).toEqual({ status: 'Canceled', isDone: true });
  release();
  simulated.deployments.polls.components = 3;
  const begun = await start(classesZip({ A: 'class A {}' }));
  await org.deploymentStatus(begun);
  expect(valueOf(await org.deploymentStatus(begun))).toMatchObject({
    status: 'InProgress',
    stateDetail: expect.any(String),
  });
  expect(valueOf(await org.cancelDeployment(begun))).toEqual({ status: 'Canceling', isDone: false });
  await expect(ended(begun)).resolves.toMatchObject({ status: 'Canceled', isSuccess: false, canceledBy: 'Own User' });
  expect(failureOf(await org.cancelDeployment(begun))).toMatchObject({ kind: 'not_found', code: 'INVALID_ID_FIELD' });
  expect(simulated.deployments.ledger).toEqual([]);
});

test('a validation with tests is deployed quickly by a new id, until the org was changed', async () => {
  const zip = classesZip({ ATest: '@isTest class ATest { @isTest static void a() {} }' });
  const validation = await start(zip, { checkOnly: true, testLevel: 'RunLocalTests' });
  await ended(validation);
  expect(simulated.deployments.ledger).toEqual([]);
  const { deploymentId } = valueOf(await org.quickDeploy(validation));
  expect(deploymentId).not.toBe(validation);
  await expect(ended(deploymentId)).resolves.toMatchObject({ isSuccess: true, checkOnly: false });
  expect(simulated.deployments.components.names()).toEqual(['ApexClass:ATest']);
  expect(failureOf(await org.quickDeploy(validation))).toMatchObject({ code: 'INVALID_ID_FIELD' });
  const untested = await start(zip, { checkOnly: true, testLevel: 'NoTestRun' });
  await ended(untested);
  expect(failureOf(await org.quickDeploy(untested)).message).toContain(untested);
});

test('what an org answers just after it took a deployment is no answer', async () => {
  const id = await start(classesZip({ A: 'class A {}' }));
  const body = [{ errorCode: 'INVALID_CROSS_REFERENCE_KEY', message: 'invalid cross reference id' }];
  simulated.fail({ kind: 'reply', status: 500, body }, { path: /deployRequest/ });
  expect(failureOf(await org.deploymentStatus(id))).toMatchObject({ kind: 'unreachable' });
  simulated.fail('html', { path: /deployRequest/ });
  expect(failureOf(await org.deploymentStatus(id))).toMatchObject({ kind: 'malformed' });
  await expect(ended(id)).resolves.toMatchObject({ isSuccess: true });
});

test('fields of one object come and go one by one', async () => {
  const field = (name: string) => `<fields><fullName>${name}</fullName><type>Text</type></fields>`;
  const object = (...fields: string[]) =>
    `<?xml version="1.0"?>\n<CustomObject>${fields.map(field).join('')}</CustomObject>`;
  const path = 'objects/Account.object';
  await ended(await start(archiveZip({ CustomField: ['Account.A__c'] }, { [path]: object('A__c') })));
  await ended(await start(archiveZip({ CustomField: ['Account.B__c'] }, { [path]: object('B__c') })));
  expect(simulated.deployments.components.names()).toEqual(['CustomField:Account.A__c', 'CustomField:Account.B__c']);
  await ended(await start(archiveZip({}, {}, { CustomField: ['Account.A__c'] })));
  expect(Object.keys(simulated.deployments.components.contents())).toEqual([`${path}#fields:B__c`]);
});
