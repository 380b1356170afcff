import type { Json } from '../../../support/client.ts';
import { gcCheckContract, gcCheckInput } from '../../../../workflows/orgs/gc-ledger/gc-check.contract.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { leaked } from '../../../support/crm.ts';
import { checkedLedger } from '../../../support/gc-check.ts';
import { detected, dropped, type Ledger, ledgerOf } from '../../../support/gc-ledger.ts';
import { historiesOf } from '../../../support/histories.ts';
import { loseHeartbeats } from '../../../support/lost-heartbeats.ts';
import { eventually, startWorker, startWorkerProcess, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
let crm: CrmSimulator;
let worker: TestWorker;
beforeAll(async () => {
  app = await testApp();
  worker = await startWorker(app, ['crm-v1']);
});
beforeEach(async () => {
  crm = await crmSimulator();
});
afterEach(async () => {
  await app.sql('delete from crm_org');
  await crm.close();
});
afterAll(async () => {
  await worker.stop();
  await app.close();
});

const start = ({ repositoryIdentifier }: Ledger, status = 202) =>
  app.as(app.member).post(status, '/api/gc-ledger/check', { repositoryIdentifier, branch: 'main' });
const ended = (id: string): Promise<Json> =>
  eventually(
    () => app.as(app.member).get(200, `/api/gc-ledger/check/${id}`),
    ({ endedAt }: Json) => endedAt !== null,
  );
const check = async (ledger: Ledger): Promise<Json> => ended((await start(ledger)).id);

test('the service asks the orgs itself, and the ledger follows', async () => {
  const ledger = await checkedLedger(app, crm);
  for (const name of ['acme', 'acme-uat']) {
    crm.org(name).metadata.write('classes/Kept.cls', 'class Kept {}');
    crm.org(name).metadata.write('reports/Sales/Pipeline.report', '<Report/>');
  }
  crm.org('acme-uat').metadata.write('classes/OnlyUat.cls', 'class OnlyUat {}');
  await ledger.events([
    detected('KEPT'),
    detected('Gone'),
    detected('OnlyUat'),
    detected('Sales/Pipeline', { componentType: 'Report' }),
    detected('Sales/Gone', { componentType: 'Report' }),
    detected('Account.Name', { componentType: 'CustomField' }),
    detected('LeadSource', { componentType: 'StandardValueSet' }),
    detected('X', { componentType: 'NoSuchType' }),
  ]);
  const begun = await start(ledger);
  expect(begun).toMatchObject({ branch: 'main', environments: [], endedAt: null, requestedBy: app.member.email });
  await expect(ended(begun.id)).resolves.toMatchObject({
    status: 'completed',
    error: null,
    environments: [
      { environment: 'acme', present: 2, absent: 3, unknown: 3, error: null },
      { environment: 'acme-uat', error: null },
    ],
  });
  await expect(ledger.statuses()).resolves.toEqual({
    'core ApexClass KEPT': 'detected',
    'core ApexClass OnlyUat': 'reclaimed',
    'core CustomField Account.Name': 'detected',
    'core NoSuchType X': 'detected',
    'core Report Sales/Pipeline': 'detected',
    'core StandardValueSet LeadSource': 'detected',
  });
  // It is deployed again.
  crm.org('acme').metadata.write('classes/OnlyUat.cls', 'class OnlyUat {}');
  await check(ledger);
  expect((await ledger.statuses())['core ApexClass OnlyUat']).toBe('detected');
});

test('an org that is away leaves all unknown, whatever it said before, and keeps no other from being asked', async () => {
  const ledger = await checkedLedger(app, crm);
  await ledger.events([detected('Gone')]);
  await ledger.check('acme', [{ ...dropped('Gone'), presence: 'absent' }]);
  crm.org('acme').fail({ kind: 'html-503' }, { times: 1_000 });
  const { environments, status } = await check(ledger);
  expect([status, environments.find(({ environment }: Json) => environment === 'acme')]).toEqual([
    'completed',
    {
      environment: 'acme',
      present: 0,
      absent: 0,
      unknown: 1,
      error: expect.stringContaining(crm.org('acme').username),
    },
  ]);
  expect((await ledger.list()).items[0]).toMatchObject({
    status: 'reclaimed',
    presence: [
      { environment: 'acme', presence: 'unknown' },
      { environment: 'acme-uat', presence: 'absent' },
    ],
  });
});

test('a worker that dies in the midst of a check is replaced by another, which asks again', async () => {
  await worker.stop();
  const dying = await startWorkerProcess(app, ['crm-v1']);
  const ledger = await checkedLedger(app, crm);
  await ledger.events([detected('Gone')]);
  crm.org('acme').fail('hang', { times: 1_000 });
  const { id } = await start(ledger);
  await eventually(
    () => ledger.list(),
    ({ items }: Json) => items[0].presence.length === 1,
  );
  await dying.kill('SIGKILL');
  crm.org('acme').heal();
  worker = await startWorker(app, ['crm-v1']);
  await loseHeartbeats(
    app,
    app.launch.idOf(gcCheckContract, gcCheckInput(app.tenantKey, { id, ...ledger, branch: 'main' })),
    1,
  );
  await expect(ended(id)).resolves.toMatchObject({
    status: 'completed',
    environments: [
      { environment: 'acme', absent: 1, error: null },
      { environment: 'acme-uat', absent: 1, error: null },
    ],
  });
  await expect(ledger.statuses()).resolves.toEqual({});
  const { repositoryIdentifier } = ledger;
  const query = new URLSearchParams({ action: 'gc.removed', repositoryIdentifier });
  expect((await app.as(app.owner).get(200, `/api/audit?${query}`)).items).toHaveLength(1);
});

test('where two sandboxes have the name, nothing is known, and what was said before counts no longer', async () => {
  const ledger = await checkedLedger(app, crm);
  const { id } = await ledger.environment('twice', { orgUsername: 'QA' });
  await ledger.events([detected('Gone')]);
  await ledger.check('twice', [{ ...dropped('Gone'), presence: 'absent' }]);
  const [org] = await app.sql<Json>('select * from crm_org where tenant_id = ? limit 1', [app.tenantKey.tenantId]);
  for (const username of ['one@acme.example.com.qa', 'two@acme.example.com.qa'])
    await app.sql(
      `insert into crm_org select (jsonb_populate_record(o, jsonb_build_object('id', gen_random_uuid(), 'username', ?::text, 'sandbox_name', 'QA',
        'is_default', false))).* from crm_org o where o.id = ?`,
      [username, org?.id],
    );
  const { environments } = await check(ledger);
  expect(environments.find(({ environment }: Json) => environment === 'twice')).toMatchObject({
    absent: 0,
    unknown: 1,
    error: expect.any(String),
  });
  expect((await ledger.list()).items).toMatchObject([
    {
      fullName: 'Gone',
      presence: expect.arrayContaining([{ environment: 'twice', presence: 'unknown', checkedAt: expect.any(String) }]),
    },
  ]);
  const query = new URLSearchParams({ action: 'gc.check_ended', repositoryIdentifier: ledger.repositoryIdentifier });
  expect((await app.as(app.owner).get(200, `/api/audit?${query}`)).items).toMatchObject([
    { source: 'crm', after: { status: 'completed', environments: 3 } },
  ]);
  await app.as(app.owner).delete(204, `/api/environments/${id}`);
});

test('an org that is not registered is unknown, and with no other one the check fails', async () => {
  const ledger = await ledgerOf(app);
  await ledger.environment('uat');
  await ledger.events([detected('A')]);
  await expect(check(ledger)).resolves.toMatchObject({
    status: 'failed',
    environments: [{ environment: 'uat', unknown: 1, error: expect.stringContaining('not registered') }],
  });
});

test('a check that is under way is joined; without an org to ask there is none', async () => {
  const ledger = await checkedLedger(app, crm);
  crm.org('acme').latencyMs = 300;
  const [one, two] = await Promise.all([start(ledger), start(ledger)]);
  expect(one.id).toBe(two.id);
  await ended(one.id);
  expect((await start(ledger)).id).not.toBe(one.id);
  const histories = await historiesOf(app, 'crm-v1');
  expect(histories.join('\n')).toContain(one.id);
  expect(leaked(histories, crm.secrets)).toEqual([]);
  await start(await ledgerOf(app), 400);
  await app.as(app.stranger).get(404, `/api/gc-ledger/check/${one.id}`);
  await app.as(app.stranger).post(400, '/api/gc-ledger/check', {
    repositoryIdentifier: ledger.repositoryIdentifier,
    branch: 'main',
  });
});
