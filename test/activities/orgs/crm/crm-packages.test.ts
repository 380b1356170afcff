import { soqlText } from '../../../../domain/kernel/text/soql-rules.ts';
import { accessTo, failureOf, simulatedPlatform, valueOf } from '../../../support/crm.ts';

const given = simulatedPlatform();
const opened = () => {
  const simulated = given.crm.org('acme');
  return { packages: simulated.packages, simulated, org: given.platform.org(accessTo(given.platform, simulated)) };
};
const LONG_AGO = '2020-01-01T00:00:00.000Z';

test('a version is shown with what it needs, as the org sees it', async () => {
  const { org, packages } = opened();
  const base = packages.offer('Base', { number: [2, 1, 0, 4] });
  const top = packages.offer('Top', { number: [1, 4, 0, 7], needs: [base.id], isReleased: false, isUnlocked: false });
  expect(valueOf(await org.packageVersion(top.id))).toEqual({
    id: top.id,
    packageId: top.packageId,
    name: 'Top',
    number: '1.4.0.7',
    isReleased: false,
    isUnlocked: false,
    needsKey: false,
    validation: 'BETA_INSTALL_INTO_PRODUCTION_ORG',
    dependencies: [base.id],
  });
  packages.has(base);
  expect(valueOf(await org.installedPackages())).toEqual([
    { packageId: base.packageId, versionId: base.id, name: 'Base', namespace: null, number: '2.1.0.4' },
  ]);
  expect(valueOf(await org.packageVersion('04t000000000001AAA'))).toBeNull();
});

test('a version with a key is shown to who has it, and no key is in a failure', async () => {
  const { org, packages, simulated } = opened();
  const key = `o'x\\s3`;
  const { id: versionId } = packages.offer('Locked', { key });
  expect(failureOf(await org.packageVersion(versionId))).toMatchObject({ code: 'INSTALL_KEY_REQUIRED' });
  expect(failureOf(await org.packageVersion(versionId, 'wrong'))).toMatchObject({ code: 'INSTALL_KEY_INVALID' });
  expect(valueOf(await org.packageVersion(versionId, key))).toMatchObject({ name: 'Locked' });
  const echo = [{ errorCode: 'MALFORMED_QUERY', message: `${'x'.repeat(296)} ${key} ^ ${soqlText(key)}` }];
  simulated.fail({ kind: 'reply', status: 400, body: echo }, { path: /tooling/, times: 2 });
  const failures = [
    failureOf(await org.packageVersion(versionId, key)),
    failureOf(await org.startInstall({ versionId, key, securityType: 'None' })),
    failureOf(await org.startInstall({ versionId, key: 'no', securityType: 'None' })),
  ];
  for (const part of [key, `o'x`, soqlText(key)]) expect(JSON.stringify(failures)).not.toContain(part);
  expect(failures.map(({ code }) => code)).toEqual(['MALFORMED_QUERY', 'MALFORMED_QUERY', 'INSTALL_KEY_INVALID']);
});

test('an installation is asked for once, followed by its id, and found again', async () => {
  const { org, packages, simulated } = opened();
  packages.polls = 3;
  const { id: versionId } = packages.offer('Base', { key: 'secret' });
  const order = { versionId, key: 'secret', securityType: 'Full', upgradeType: 'deprecate-only' } as const;
  simulated.fail('lost', { path: /PackageInstallRequest/ });
  expect(failureOf(await org.startInstall(order))).toMatchObject({ kind: 'unreachable' });
  const asked = { act: 'install', versionId, userId: simulated.userId, since: LONG_AGO } as const;
  const [found] = valueOf(await org.packageRequests(asked));
  expect(found).toMatchObject({ id: expect.stringMatching(/^0Hf\w{15}$/), versionId, state: 'running', errors: [] });
  expect(valueOf(await org.packageRequests({ ...asked, userId: '005000000000001AAA' }))).toEqual([]);
  expect(valueOf(await org.packageRequests({ ...asked, since: '2090-01-01T00:00:00.000Z' }))).toEqual([]);
  expect(failureOf(await org.startInstall(order))).toMatchObject({ code: 'ALREADY_IN_PROCESS' });
  expect(valueOf(await org.packageRequest(found?.id ?? ''))).toMatchObject({ state: 'succeeded', status: 'SUCCESS' });
  expect(packages.ledger).toEqual([
    {
      act: 'install',
      versionId,
      record: expect.objectContaining({ SecurityType: 'Full', UpgradeType: 'deprecate-only' }),
    },
  ]);
  expect(failureOf(await org.packageRequest('0Hf000000000001AAA'))).toMatchObject({ kind: 'not_found' });
});

test('why an installation or an uninstallation failed is said in all its texts', async () => {
  const { org, packages } = opened();
  packages.polls = 0;
  const base = packages.offer('Base');
  packages.failures.push(['Component is in use', 'Apex does not compile'], ['Page is in use', 'Field is in use']);
  const { requestId } = valueOf(await org.startInstall({ versionId: base.id, key: undefined, securityType: 'None' }));
  expect(valueOf(await org.packageRequest(requestId))).toMatchObject({
    state: 'failed',
    errors: ['Component is in use', 'Apex does not compile'],
  });
  packages.has(base);
  const uninstall = valueOf(await org.startUninstall(base.id));
  expect(uninstall.requestId).toMatch(/^06y/);
  expect(valueOf(await org.packageRequest(uninstall.requestId))).toMatchObject({
    state: 'failed',
    errors: ['Field is in use', 'Page is in use'],
  });
});

test('an answer without the id of a request is none', async () => {
  const { org, packages, simulated } = opened();
  const { id: versionId } = packages.offer('Base');
  simulated.fail({ kind: 'reply', status: 201, body: { id: '0Af000000000001', success: true } }, { path: /Install/ });
  expect(failureOf(await org.startInstall({ versionId, key: undefined, securityType: 'None' }))).toMatchObject({
    kind: 'malformed',
    code: 'NO_REQUEST',
  });
});
