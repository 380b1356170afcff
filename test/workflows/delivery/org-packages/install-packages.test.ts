import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Json } from '../../../support/client.ts';
import type { OfferedVersion } from '../../../simulators/crm-org/packages.ts';
import { createTemporalClient } from '../../../../workflows/temporal-client.ts';
import { workflowIdOfRun } from '../../../support/run-key.ts';
import { packageRuns } from '../../../support/package-runs.ts';
import { eventually } from '../../../support/worker.ts';

const given = packageRuns();
const temporal = createTemporalClient({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '', namespace: 'default' });
afterAll(() => temporal.connection.close());
const ran = async (payload: object): Promise<Json> => given.ended(await given.start(payload));
const byId = (...versions: OfferedVersion[]) => ({
  packages: Object.fromEntries(versions.map(({ name, id }) => [name, id])),
});
const ledger = () => given.packages.ledger.map(({ versionId }) => nameOf(versionId));
const names = new Map<string, string>();
const offer: typeof given.packages.offer = (name, more) => {
  const version = given.packages.offer(name, more);
  names.set(version.id, name);
  return version;
};
const nameOf = (id: string) => names.get(id) ?? id;
const outcomes = ({ result }: Json) =>
  (result.packages as Json[]).map(({ name, outcome }) => [name as string, outcome as string]);
/** Base, what needs it, and what needs both; each has its key. */
const chain = () => {
  const base = offer('Base', { key: 'key-of-base' });
  const middle = offer('Middle', { needs: [base.id], key: `it's-\\of-middle` });
  const top = offer('Top', { needs: [base.id, middle.id], number: [1, 4, 0, 7] });
  return { base, middle, top };
};

test('what a version needs is installed before it, each with its key, which stands nowhere', async () => {
  const { base, middle, top } = chain();
  const secrets = ['key-of-base', `it's-\\of-middle`];
  await given.keys({ [base.id]: 'key-of-base', 'Middle@1.0.0-1': secrets[1] ?? '' });
  const manifest = { packageAliases: { 'Middle@1.0.0-1': middle.id, 'Top@1.4.0-7': top.id, Top: '0Ho000000000001' } };
  given.repository.commit({ files: { 'sfdx-project.json': JSON.stringify(manifest) } });
  const run = await ran({ packages: { Top: '1.4.0' }, securityType: 'AllUsers', upgradeType: 'DeprecateOnly' });
  expect(run).toMatchObject({
    status: 'Completed',
    result: {
      orgUsername: given.org.username,
      packages: [
        { name: 'Base', version: '1.0.0.1', versionId: base.id, outcome: 'installed', before: null },
        { name: 'Middle', outcome: 'installed', requestId: expect.stringMatching(/^0Hf/) },
        { name: 'Top', version: '1.4.0.7', outcome: 'installed' },
      ],
    },
    steps: [
      { name: 'Install Base 1.0.0.1', state: 'succeeded', externalId: expect.stringMatching(/^0Hf/) },
      { name: 'Install Middle 1.0.0.1', state: 'succeeded' },
      { name: 'Install Top 1.4.0.7', state: 'succeeded' },
    ],
  });
  expect(ledger()).toEqual(['Base', 'Middle', 'Top']);
  expect(given.packages.ledger[2]?.record).toMatchObject({ SecurityType: 'Full', UpgradeType: 'deprecate-only' });
  const output = await given.output(run);
  expect(output).toContain(`installed: Top 1.4.0.7 (${top.id}, request 0Hf`);
  const workflowId = await workflowIdOfRun(given.app, run.id);
  const history = historyToJSON(await temporal.workflow.getHandle(workflowId).fetchHistory()).replaceAll(
    /"data": ?"([^"]*)"/g,
    (_, data: string) => Buffer.from(data, 'base64').toString(),
  );
  expect(history).toContain('advanceOperation');
  const everything = [
    history,
    output,
    JSON.stringify(run),
    JSON.stringify(await given.app.sql('select * from org_step')),
    JSON.stringify(await given.app.sql('select * from flow_run')),
    JSON.stringify(await given.app.sql('select * from audit_entry')),
    JSON.stringify(await given.app.as(given.app.owner).get(200, '/api/integrations')),
  ].join('\n');
  for (const secret of secrets) {
    expect(everything).not.toContain(secret);
    expect(everything).not.toContain(JSON.stringify(secret).slice(1, -1));
  }
  const reads = await given.app.sql(`select summary from audit_entry where action = 'integration.credentials_read'`);
  expect(JSON.stringify(reads)).toContain(`packages of run ${run.id}`);
});

test('what the org has is skipped, later dependencies stay, and what has an earlier one is upgraded', async () => {
  const base = offer('Base', { number: [1, 0, 0, 1] });
  const later = offer('Base', { of: base, number: [2, 0, 0, 1] });
  const other = offer('Other', { number: [1, 0, 0, 1] });
  const newer = offer('Other', { of: other, number: [1, 1, 0, 2] });
  const same = offer('Same');
  const top = offer('Top', { needs: [base.id, newer.id] });
  for (const version of [later, other, same]) given.packages.has(version);
  const run = await ran(byId(same, top));
  expect(run).toMatchObject({ status: 'Completed' });
  expect(outcomes(run)).toEqual([
    ['Same', 'skipped'],
    ['Base', 'skipped'],
    ['Other', 'upgraded'],
    ['Top', 'installed'],
  ]);
  expect(ledger()).toEqual(['Other', 'Top']);
  expect(await given.output(run)).toContain('skipped: Base 1.0.0.1');
  await expect(ran(byId(same))).resolves.toMatchObject({
    status: 'Completed',
    result: { packages: [{ outcome: 'skipped' }] },
  });
});

describe('nothing is begun', () => {
  test('where a key is missing or wrong, of the version that needs it', async () => {
    const { base, top } = chain();
    await given.keys({ [base.id]: 'another' });
    const run = await ran(byId(top));
    expect(run).toMatchObject({ status: 'Failed', steps: [] });
    expect(run.result.refusals).toEqual([
      `${base.id}, which Top 1.4.0.7 needs: the org does not accept the key that the integration package-keys has for it`,
      expect.stringContaining(
        'which Top 1.4.0.7 needs: it needs an installation key, and the integration package-keys',
      ),
    ]);
    const managed = offer('Managed', { isUnlocked: false, key: 'some' });
    await expect(ran(byId(managed))).resolves.toMatchObject({
      success: { error: expect.stringContaining('Managed 1.0.0.1: it needs an installation key') },
    });
    expect(ledger()).toEqual([]);
  });

  test('where an earlier version is asked for than the org has, whatever it is called', async () => {
    const base = offer('Base', { number: [1, 9, 0, 1] });
    given.packages.has(offer('Base', { of: base, number: [1, 10, 0, 1] }));
    await expect(ran(byId(base))).resolves.toMatchObject({
      status: 'Failed',
      success: { error: expect.stringContaining('Base 1.9.0.1: the org has the later 1.10.0.1') },
    });
  });

  test('of a beta in an environment of the category release, whose org would take it', async () => {
    const org = await given.register({ name: `uat-${Date.now()}`, kind: 'sandbox' });
    await given.app.as(given.app.owner).post(201, '/api/environments', {
      repositoryIdentifier: given.repositoryIdentifier,
      name: `uat-${Date.now()}`,
      category: 'release',
      orgUsername: org.username,
    });
    const beta = org.packages.offer('Base', { isReleased: false });
    const payload = { orgUsername: org.username, ...byId(beta) };
    await expect(ran(payload)).resolves.toMatchObject({
      status: 'Failed',
      success: {
        error: expect.stringContaining('it is a beta, which environments of the category release do not take'),
      },
    });
    expect(org.packages.ledger).toEqual([]);
    const dev = await given.register({ name: `dev-${Date.now()}`, kind: 'sandbox' });
    const free = dev.packages.offer('Base', { isReleased: false });
    await expect(ran({ orgUsername: dev.username, ...byId(free) })).resolves.toMatchObject({ status: 'Completed' });
  });

  test('of what the org itself refuses, and of names that mean nothing', async () => {
    const base = offer('Base', { validations: ['NAMESPACE_COLLISION', 'NAMESPACE_COLLISION'] });
    await expect(ran(byId(base))).resolves.toMatchObject({
      success: { error: 'Base 1.0.0.1: the org has its namespace already (NAMESPACE_COLLISION)' },
    });
    await expect(ran({ packages: { Base: 'nonsense' } })).resolves.toMatchObject({
      success: { error: expect.stringContaining('Base nonsense is no id of a version') },
    });
    expect(ledger()).toEqual([]);
  });

  test.each([
    [{}, 'names no packages'],
    [{ packages: { Base: '1.0' }, repositoryIdentifier: undefined }, 'aliases'],
    [{ packages: { Base: '04t000000000001' }, orgUsername: 'nobody@x.example' }, 'is not registered'],
  ])('and no run, of %j', async (payload, detail) => {
    await expect(given.start(payload, 409)).resolves.toMatchObject({
      code: 'flow_unavailable',
      detail: expect.stringContaining(detail),
    });
  });
});

describe('before it is approved', () => {
  const guarded = 'acme/guarded';
  beforeAll(async () => {
    await given.app.as(given.app.owner).post(201, '/api/projects', { identifier: guarded, platform: 'host-a' });
  });

  test('the org is asked whether it would take the versions; what it refuses is never offered for approval', async () => {
    const bad = offer('Bad', { validations: Array.from({ length: 5 }, () => 'NO_ACCESS') });
    const run = await ran({ repositoryIdentifier: guarded, ...byId(bad) });
    expect(run).toMatchObject({ status: 'Failed', success: { error: expect.stringContaining('NO_ACCESS') } });
    await expect(given.app.sql('select 1 from approval where run_id = ?', [run.id])).resolves.toEqual([]);
    const good = offer('Good');
    const asked = await given.start({ repositoryIdentifier: guarded, ...byId(good) });
    await eventually(
      () => given.shown(asked),
      ({ status }) => status === 'Waiting for Approval' || status === 'Waiting',
    );
    expect(ledger()).toEqual([]);
    await given.app.as(given.app.owner).post(200, `/api/flows/runs/${asked.id}/cancel`);
    await given.ended(asked);
  });

  test('an org that is away keeps nobody from approving', async () => {
    const good = offer('Good');
    given.org.fail('html-503', { times: 1_000 });
    const asked = await given.start({ repositoryIdentifier: guarded, ...byId(good) });
    await eventually(
      () => given.app.sql('select 1 from approval where run_id = ?', [asked.id]),
      (rows) => rows.length > 0,
    );
    given.org.heal();
    await given.app.as(given.app.owner).post(200, `/api/flows/runs/${asked.id}/cancel`);
    await given.ended(asked);
  });
});

test('an org that refuses to say how an installation goes on is not asked without end', async () => {
  const version = offer('Base');
  const release = given.org.hold(/PackageInstallRequest$/);
  const run = await given.start(byId(version));
  await eventually(
    () => given.app.sql(`select 1 from org_step where run_id = ? and state = 'asked'`, [run.id]),
    (rows) => rows.length > 0,
  );
  const body = [{ errorCode: 'INSUFFICIENT_ACCESS', message: 'insufficient access rights' }];
  given.org.fail({ kind: 'reply', status: 403, body }, { path: /query/, times: 50 });
  release();
  await expect(given.ended(run)).resolves.toMatchObject({
    status: 'Failed',
    success: { error: expect.stringContaining('look at Installed Packages in Setup') },
    result: { code: 'unknown_outcome' },
  });
  given.org.heal();
});
