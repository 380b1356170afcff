import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@jsforce/jsforce-node';
import { simulatedPlatform } from '../support/crm.ts';
import { classesZip } from '../support/deploy-archive.ts';
import { eventually } from '../support/eventually.ts';

/** The simulator is held against an independent client of the platform's interface. */
const given = simulatedPlatform();

/** Signs in as people's tools do: by the refresh token of the auth URL. */
async function signedIn(name: string): Promise<Connection> {
  const org = given.crm.org(name);
  const [, refreshToken = ''] = /:([^:@]+)@/.exec(org.authUrl) ?? [];
  const connection = new Connection({
    version: '66.0',
    instanceUrl: org.url,
    refreshToken,
    oauth2: { loginUrl: org.url, clientId: 'PlatformCLI', redirectUri: 'http://localhost:1717/OauthRedirect' },
  });
  const tokens = await connection.oauth2.refreshToken(refreshToken);
  connection.accessToken = tokens.access_token;
  return connection;
}

test('a client signs in and learns who it is', async () => {
  const connection = await signedIn('acme');
  const org = given.crm.org('acme');
  const found = await connection.query<{ Id: string; IsSandbox: boolean }>('SELECT Id, IsSandbox FROM Organization');
  expect(found).toMatchObject({ totalSize: 1, done: true, records: [{ Id: org.orgId, IsSandbox: false }] });
  const info = await connection.request<{ user_id: string; organization_id: string }>('/services/oauth2/userinfo');
  expect(info).toMatchObject({ user_id: org.userId, organization_id: org.orgId });
  expect(await connection.sobject('User').retrieve(info.user_id)).toMatchObject({ Username: org.username });
});

test('an ended session is renewed by the client', async () => {
  const connection = await signedIn('acme');
  given.crm.org('acme').endSessions();
  expect(await connection.query('SELECT Id FROM Organization')).toMatchObject({ totalSize: 1 });
});

test('a revoked refresh token is refused', async () => {
  const connection = await signedIn('acme');
  given.crm.org('acme').revokeApprovals();
  await expect(connection.query('SELECT Id FROM Organization')).rejects.toThrow('expired access/refresh token');
});

test('limits are given, and the calls of the day are counted', async () => {
  const connection = await signedIn('acme');
  const limits = await connection.limits();
  expect(limits).toMatchObject({ DailyApiRequests: { Max: 100_000 } });
  expect(connection.limitInfo?.apiUsage).toMatchObject({ used: 19, limit: 100_000 });
});

test('queries are paged, filtered and refused as on the platform', async () => {
  const org = given.crm.org('acme');
  org.pageSize = 100;
  const rows = Array.from({ length: 250 }, (_, index) => ({
    Id: `001${index}`,
    Name: `Account ${index}`,
    Size: index,
  }));
  org.tables.set('Account', { fields: ['Id', 'Name', 'Size'], rows: () => rows });
  const connection = await signedIn('acme');
  const all = await connection
    .query('SELECT Id FROM Account ORDER BY Size DESC')
    .execute({ autoFetch: true, maxFetch: 1_000 });
  const ids = (all as unknown as { records: { Id: string }[] }).records.map(({ Id }) => Id);
  expect(ids).toHaveLength(250);
  expect(ids[0]).toBe('001249');
  const people = await connection.query("SELECT Profile.Name FROM User WHERE Profile.Name LIKE 'System%'");
  expect(people.records).toMatchObject([{ Profile: { Name: 'System Administrator' } }]);
  const names = await connection.query(
    "SELECT Name FROM Account WHERE (Size > 3 AND Size <= 5) OR Name LIKE 'account 1_' OR Id IN ('0017') ORDER BY Size LIMIT 4",
  );
  expect(names.records.map(({ Name }) => Name)).toEqual(['Account 4', 'Account 5', 'Account 7', 'Account 10']);
  await expect(connection.query('SELECT Nothing FROM Account')).rejects.toMatchObject({ errorCode: 'INVALID_FIELD' });
  await expect(connection.query('SELECT Id FROM Nothing')).rejects.toMatchObject({ errorCode: 'INVALID_TYPE' });
  await expect(connection.query("SELECT Id FROM Account WHERE Name = 'o'x'")).rejects.toMatchObject({
    errorCode: 'MALFORMED_QUERY',
  });
});

test('production shows its sandboxes and gives a code for one', async () => {
  const connection = await signedIn('acme');
  const { records } = await connection.tooling.query(
    'SELECT SandboxName, Status, CopyProgress FROM SandboxProcess ORDER BY SandboxName',
  );
  expect(records).toMatchObject([
    { SandboxName: 'copying', Status: 'Processing', CopyProgress: 43 },
    { SandboxName: 'dev', Status: 'Completed' },
    { SandboxName: 'uat', Status: 'Completed' },
  ]);
  const ask = (sandboxName: string) =>
    connection.requestPost<{ authCode: string; loginUrl: string }>('/services/data/v66.0/tooling/sandboxAuth', {
      clientId: 'PlatformCLI',
      sandboxName,
      callbackUrl: 'http://localhost:1717/OauthRedirect',
    });
  const { authCode, loginUrl } = await ask('dev');
  const sandbox = new Connection({
    version: '66.0',
    oauth2: { loginUrl, clientId: 'PlatformCLI', redirectUri: 'http://localhost:1717/OauthRedirect' },
  });
  await sandbox.authorize(authCode);
  expect(await sandbox.query('SELECT Username FROM User')).toMatchObject({
    records: [{ Username: 'admin@acme.example.dev' }],
  });
  await expect(sandbox.oauth2.requestToken(authCode)).rejects.toThrow('expired authorization code');
  await expect(ask('copying')).rejects.toMatchObject({ errorCode: 'INVALID_STATUS' });
});

test('production makes a sandbox, waits with its activation, makes it anew, and deletes it', async () => {
  const { copies } = given.crm.org('acme');
  const connection = await signedIn('acme');
  const infos = connection.tooling.sobject('SandboxInfo');
  const ActivationUserGroupId = copies.addGroup('Testers');
  const made = await infos.create({
    SandboxName: 'qa',
    LicenseType: 'Developer_Pro',
    ActivationUserGroupId,
    AutoActivate: false,
  });
  const id = String(made.id);
  await expect(infos.create({ SandboxName: 'QA', LicenseType: 'FULL' })).rejects.toMatchObject({
    errorCode: 'DUPLICATE_VALUE',
  });
  await copies.finish('qa');
  const processes = await connection.tooling.query<{ Id: string; Status: string }>(
    "SELECT Id, Status FROM SandboxProcess WHERE SandboxName = 'qa'",
  );
  expect(processes.records).toMatchObject([{ Status: 'Pending Activation' }]);
  await connection.tooling.sobject('SandboxProcess').update({
    Id: String(processes.records[0]?.Id),
    RefreshAction: 'ACTIVATE',
  });
  await copies.finish('qa');
  expect(copies.copy('qa').status).toBe('Completed');
  copies.copy('qa').createdAt = new Date(Date.now() - 86_400_001);
  const { Id, LicenseType } = (await infos.retrieve(id)) as { Id: string; LicenseType: string };
  expect(LicenseType).toBe('DEVELOPER PRO');
  await expect(connection.tooling.update('SandboxInfo', { Id })).rejects.toMatchObject({
    errorCode: 'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST',
  });
  await connection.tooling.update('SandboxInfo', { Id, LicenseType, ActivationUserGroupId, AutoActivate: true });
  await expect(infos.destroy(id)).rejects.toThrow('in progress');
  await copies.finish('qa');
  copies.copy('qa').createdAt = new Date(Date.now() - 86_400_001);
  await infos.destroy(id);
  await expect(infos.retrieve(id)).rejects.toMatchObject({ errorCode: 'NOT_FOUND' });
});

test('metadata is described, listed and retrieved, and an archive is given once', async () => {
  const { metadata } = given.crm.org('acme');
  metadata.write('classes/Invoice.cls', 'public class Invoice {}', { modifiedBy: 'Grace' });
  metadata.write(
    'objects/Account.object',
    '<CustomObject><fields><fullName>Region__c</fullName></fields></CustomObject>',
  );
  const connection = await signedIn('acme');
  const types = await connection.metadata.describe('66.0');
  expect(types.metadataObjects.find(({ xmlName }) => xmlName === 'CustomObject')).toMatchObject({
    directoryName: 'objects',
    suffix: 'object',
  });
  expect(await connection.metadata.list([{ type: 'ApexClass' }, { type: 'CustomField' }], '66.0')).toMatchObject([
    { fullName: 'Invoice', fileName: 'classes/Invoice.cls', lastModifiedByName: 'Grace', type: 'ApexClass' },
    { fullName: 'Account.Region__c', fileName: 'objects/Account.object', type: 'CustomField' },
  ]);
  await expect(connection.metadata.list([{ type: 'Nonsense' }], '66.0')).rejects.toThrow('INVALID_TYPE');

  connection.metadata.pollInterval = 10;
  const retrieved = await connection.metadata
    .retrieve({
      apiVersion: '66.0',
      unpackaged: { types: [{ name: 'ApexClass', members: ['Invoice', 'Missing'] }], version: '66.0' },
    } as never)
    .complete();
  expect(retrieved).toMatchObject({
    status: 'Succeeded',
    success: true,
    messages: [{ problem: expect.stringContaining('Missing') }],
  });
  const zip = Buffer.from(retrieved.zipFile, 'base64').toString('latin1');
  for (const name of [
    'unpackaged/package.xml',
    'unpackaged/classes/Invoice.cls',
    'unpackaged/classes/Invoice.cls-meta.xml',
  ])
    expect(zip).toContain(name);
  const again = await connection.metadata.checkRetrieveStatus(retrieved.id);
  expect(again.zipFile).not.toEqual(retrieved.zipFile);
});

test('the metadata of a folder is served as the folder is at the moment', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'crm-metadata-'));
  try {
    mkdirSync(join(folder, 'classes'));
    writeFileSync(join(folder, 'classes', 'A.cls'), 'class A {}');
    const org = await given.crm.addOrg({ name: 'initech', kind: 'production', metadataFolder: folder });
    const connection = await signedIn(org.name);
    const names = async () =>
      (await connection.metadata.list({ type: 'ApexClass' }, '66.0')).map(({ fullName }) => fullName);
    expect(await names()).toEqual(['A']);
    writeFileSync(join(folder, 'classes', 'B.cls'), 'class B {}');
    expect(await names()).toEqual(['A', 'B']);
    rmSync(join(folder, 'classes', 'A.cls'));
    expect(await names()).toEqual(['B']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a sixth approval revokes the oldest', async () => {
  const org = given.crm.org('acme');
  const connection = await signedIn('acme');
  for (let count = 0; count < 4; count++) org.approve();
  org.endSessions();
  await connection.query('SELECT Id FROM Organization');
  org.approve();
  org.endSessions();
  await expect(connection.query('SELECT Id FROM Organization')).rejects.toThrow('expired access/refresh token');
});

test('a front door opens once', async () => {
  const connection = await signedIn('acme');
  const { frontdoor_uri: door } = await connection.request<{ frontdoor_uri: string }>(
    '/services/oauth2/singleaccess?redirect_uri=%2Fsetup',
  );
  expect(await (await fetch(door)).text()).toContain('Signed in to the simulated org acme at /setup');
  expect(await (await fetch(door)).text()).toContain('Login');
});

test('an archive is deployed, validated, deployed quickly and cancelled by REST and by SOAP', async () => {
  const { deployments } = given.crm.org('acme-uat');
  const { metadata } = await signedIn('acme-uat');
  metadata.pollInterval = 10;
  const source = '@isTest class ATest { @isTest static void a() {} }';
  const zip = classesZip({ ATest: source });
  const deployed = await metadata.deploy(zip, { testLevel: 'RunLocalTests', rollbackOnError: true }).complete(true);
  expect(deployed).toMatchObject({ status: 'Succeeded', success: true, numberTestsCompleted: 1 });
  expect(deployed.details.componentSuccesses).toMatchObject([{}, { fullName: 'ATest', created: true }]);
  const validation = metadata.deployRest(zip, { checkOnly: true, testLevel: 'RunLocalTests' });
  const { id } = (await validation) as unknown as { id: string };
  const status = () => metadata.checkDeployStatus(id, true, true);
  await eventually(status, ({ done }) => done);
  expect(await status()).toMatchObject({
    success: true,
    checkOnly: true,
    details: { runTestResult: { numTestsRun: 1 } },
  });
  const quick = await metadata.deployRecentValidation({ id, rest: true });
  await eventually(
    () => metadata.checkDeployStatus(quick, false),
    ({ done }) => done,
  );
  expect(deployments.ledger).toHaveLength(2);
  deployments.problems = [{ pattern: /Broken/, problem: 'Unexpected token' }];
  const failed = await metadata.deploy(classesZip({ A: 'class A {\n  Broken\n}' }), {}).complete(true);
  expect(failed).toMatchObject({ status: 'Failed', success: false });
  expect(failed.details.componentFailures).toMatchObject([
    { fullName: 'A', lineNumber: 2, problem: 'Unexpected token' },
  ]);
  const release = deployments.occupy();
  const waiting = (await metadata.deploy(zip, {})) as unknown as { id: string };
  expect(String((await metadata.cancelDeploy(waiting.id)).done)).toBe('true');
  release();
});

test('packages are installed and uninstalled as the tools of the platform do it', async () => {
  const { packages } = given.crm.org('acme');
  packages.polls = 0;
  const version = packages.offer('Base', { key: "o'x" });
  const { tooling } = await signedIn('acme');
  const byKey = (key: string) =>
    tooling.query(
      `SELECT Id, InstallValidationStatus, Dependencies FROM SubscriberPackageVersion WHERE Id ='${version.id}' AND InstallationKey ='${key}'`,
    );
  await expect(byKey('wrong')).rejects.toMatchObject({ errorCode: 'INSTALL_KEY_INVALID' });
  expect((await byKey(String.raw`o\'x`)).records).toMatchObject([{ InstallValidationStatus: 'NO_ERRORS_DETECTED' }]);
  await expect(tooling.query("SELECT Id FROM SubscriberPackageVersion WHERE Name = 'Base'")).rejects.toMatchObject({
    errorCode: 'MALFORMED_QUERY',
  });
  const installed = await tooling
    .sobject('PackageInstallRequest')
    .create({ SubscriberPackageVersionKey: version.id, Password: "o'x", SecurityType: 'None' });
  expect(installed).toMatchObject({ success: true, id: expect.stringMatching(/^0Hf/) });
  expect(await tooling.sobject('PackageInstallRequest').retrieve(installed.id ?? '')).toMatchObject({
    Status: 'SUCCESS',
    Errors: null,
  });
  const gone = await tooling
    .sobject('SubscriberPackageVersionUninstallRequest')
    .create({ SubscriberPackageVersionId: version.id });
  expect(await tooling.sobject('SubscriberPackageVersionUninstallRequest').retrieve(gone.id ?? '')).toMatchObject({
    Status: 'Success',
  });
  expect(packages.installed.size).toBe(0);
});
