import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestLevel, TestService } from '@salesforce/apex-node';
import { AuthInfo, Connection } from '@salesforce/core';
import { Duration } from '@salesforce/kit';
import { SubscriberPackageVersion } from '@salesforce/packaging';
import { ComponentSet } from '@salesforce/source-deploy-retrieve';
import { simulatedPlatform } from '../support/crm.ts';
import type { SimulatedOrg } from './crm-org/org.ts';

process.env.SF_DISABLE_LOG_FILE = 'true';
process.env.SF_DISABLE_TELEMETRY = 'true';

/** The vendor's own libraries, as its tools use them, understand the simulator. */
const given = simulatedPlatform();

/** With an access token of the org, of which nothing is kept on this machine. */
async function connected(org: SimulatedOrg): Promise<Connection> {
  const accessToken = org.startSession('PlatformCLI');
  const authInfo = await AuthInfo.create({
    username: accessToken,
    accessTokenOptions: { accessToken, instanceUrl: org.url },
  });
  return Connection.create({ authInfo, connectionOptions: { version: '66.0' } });
}

const soon = Duration.milliseconds(20);
const patient = Duration.seconds(60);

test('tests run, with each result and the coverage', async () => {
  const org = given.crm.org('acme-uat');
  org.metadata.write('classes/Invoice.cls', 'public class Invoice {\n  Integer a;\n}');
  org.apexTests.addClass('InvoiceTest', ['adds', 'rounds']);
  org.apexTests.addClass('OrderTest', ['ships']);
  org.apexTests.covers.set('InvoiceTest', ['Invoice']);
  org.deployments.coverage.set('Invoice', { lines: 4, uncovered: 1, uncoveredLines: [2] });
  org.deployments.failingTests.set('InvoiceTest.rounds', { message: 'System.AssertException: no' });
  const tests = new TestService(await connected(org));
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- an ambient const enum, which cannot be imported here
  const level = 'RunSpecifiedTests' as TestLevel;
  const payload = await tests.buildAsyncPayload(level, undefined, 'InvoiceTest,OrderTest');
  const result = await tests.runTestAsynchronous(payload, true, false, undefined, undefined, patient, soon);
  expect(result).toMatchObject({
    summary: { outcome: 'Failed', testsRan: 3, passing: 2, failing: 1, orgWideCoverage: '75%' },
    codecoverage: [{ name: 'Invoice', coveredLines: [1, 3, 4], uncoveredLines: [2], percentage: '75%' }],
  });
  expect((result as { tests: { fullName: string; outcome: string }[] }).tests).toMatchObject(
    expect.arrayContaining([
      expect.objectContaining({
        fullName: 'InvoiceTest.rounds',
        outcome: 'Fail',
        message: 'System.AssertException: no',
      }),
    ]),
  );
  expect(org.apexTests.jobs).toHaveLength(1);
});

test('a package is installed with its key, listed, and uninstalled', async () => {
  const org = given.crm.org('acme');
  const { packages } = org;
  const version = packages.offer('Base', { key: 'locked' });
  const connection = await connected(org);
  const base = new SubscriberPackageVersion({ connection, aliasOrId: version.id, password: 'locked' });
  expect(await base.getInstallValidationStatus()).toBe('NO_ERRORS_DETECTED');
  const request = { SubscriberPackageVersionKey: version.id, Password: 'locked' };
  const options = { pollingFrequency: soon, pollingTimeout: patient, publishFrequency: soon, publishTimeout: patient };
  expect(await base.install(request, options)).toMatchObject({ Status: 'SUCCESS' });
  expect(await SubscriberPackageVersion.installedList(connection)).toMatchObject([
    { SubscriberPackage: { Name: 'Base' }, SubscriberPackageVersion: { Id: version.id, MajorVersion: 1 } },
  ]);
  expect(await base.uninstall(soon, patient)).toMatchObject({ Status: 'Success' });
  expect(await SubscriberPackageVersion.installedList(connection)).toEqual([]);
  expect(packages.ledger.map(({ act }) => act)).toEqual(['install', 'uninstall']);
});

test.each([true, false])('source is deployed, and what is wrong with it is named, by REST: %s', async (rest) => {
  const org = given.crm.org('acme-uat');
  const folder = mkdtempSync(join(tmpdir(), 'quayside-source-'));
  try {
    mkdirSync(join(folder, 'classes'));
    const meta = '<ApexClass xmlns="http://soap.sforce.com/2006/04/metadata"><apiVersion>66.0</apiVersion></ApexClass>';
    const write = (name: string, text: string) => {
      writeFileSync(join(folder, 'classes', `${name}.cls`), text);
      writeFileSync(join(folder, 'classes', `${name}.cls-meta.xml`), `<?xml version="1.0" encoding="UTF-8"?>${meta}`);
    };
    const usernameOrConnection = await connected(org);
    const deploy = async () => {
      const begun = await ComponentSet.fromSource(folder).deploy({
        usernameOrConnection,
        apiOptions: { rest, testLevel: 'NoTestRun' },
      });
      return begun.pollStatus({ frequency: soon, timeout: patient });
    };
    write('Invoice', 'public class Invoice {}');
    const { response } = await deploy();
    expect(response).toMatchObject({ status: 'Succeeded', success: true, numberComponentsDeployed: 1 });
    org.deployments.problems = [{ pattern: /Broken/, problem: 'Unexpected token' }];
    write('Order', 'public class Order {\n  Broken\n}');
    const failed = await deploy();
    expect(failed.response).toMatchObject({ status: 'Failed', success: false });
    expect(failed.getFileResponses()).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({
          fullName: 'Order',
          state: 'Failed',
          error: expect.stringContaining('Unexpected token'),
        }),
      ]),
    );
    expect(org.deployments.ledger).toHaveLength(1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
