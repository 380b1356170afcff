import type { Json } from '../../../support/client.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { OrgSandboxes } from '../../../simulators/crm-org/sandboxes.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { endedRun } from '../../../support/ended-run.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const repositoryIdentifier = 'acme/sandboxes';
const QUEUES = ['flows-v1', 'crm-v1', 'approvals-v1', 'environment-locks-v1', 'system-v1'];
const DAY_MS = 86_400_000;

let app: TestApp;
let crm: CrmSimulator;
let worker: TestWorker;
let org: SimulatedOrg;
let copies: OrgSandboxes;
let made = 0;
beforeAll(async () => {
  crm = await crmSimulator([]);
  app = await testApp({ env: { OUTBOUND_ALLOW: '127.0.0.0/8', SERVICE_PACE: '0.01' } });
  worker = await startWorker(app, QUEUES);
  await app.as(app.owner).post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { approvalPolicy: { skipApproval: true } },
  });
});
beforeEach(async () => {
  org = await crm.addOrg({ name: `prod-${++made}`, kind: 'production' });
  ({ copies } = org);
  copies.addGroup('Testers');
  await app.as(app.owner).post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  await crm.close();
});

const DEVELOPER = { licenseType: 'Developer', activationGroup: 'Testers' };
const start = (id: string, payload: object, status = 202): Promise<Json> =>
  app.as(app.owner).post(status, '/api/flows/run', {
    payload: { id, repositoryIdentifier, productionUsername: org.username, sandboxName: 'qa', ...payload },
  });
const shown = ({ id }: Json): Promise<Json> => app.as(app.owner).get(200, `/api/flows/runs/${id}`);
const ended = (run: Json): Promise<Json> => endedRun(app, run);
const stepsOf = ({ steps }: Json) => (steps as Json[]).map(({ name, state }) => [name, state]);
const begun = async (run: Json): Promise<Json> =>
  eventually(
    () => shown(run),
    ({ steps, success }) => success !== null || (steps as Json[]).some(({ progress }) => progress !== null),
  );
const acts = () => copies.ledger.map(({ act, name }) => `${act} ${name}`);
/** A sandbox that was made and copied long ago, and is registered. */
async function sandbox(name: string, username?: string): Promise<SimulatedOrg> {
  const simulated = await crm.addOrg({
    name: `${org.name}-${name}`,
    kind: 'sandbox',
    parent: org.name,
    sandboxName: name,
    ...(username !== undefined && { username }),
  });
  const row = copies.copy(name);
  row.createdAt = new Date(Date.now() - 30 * DAY_MS);
  row.endedAt = new Date(row.createdAt.getTime() + 90 * 60_000);
  copies.define(name, { ActivationUserGroupId: copies.groups.get('Testers') ?? null });
  await app.as(app.owner).post(201, '/api/auth/crm/register', { cliAuthUrl: simulated.authUrl });
  return simulated;
}
const registered = (username: string): Promise<Json> =>
  app.as(app.owner).get(200, `/api/auth/crm/org?username=${encodeURIComponent(username)}`);

describe('creating a sandbox', () => {
  test('is followed until it is complete, with an estimate by others, and registers its org', async () => {
    await sandbox('old');
    await app.as(app.owner).post(201, '/api/environments', {
      repositoryIdentifier,
      name: `qa-${made}`,
      category: 'test',
      branch: `qa-${made}`,
      orgUsername: 'qa',
    });
    const run = await start('request-sandbox-create', { ...DEVELOPER, description: 'For QA' });
    await eventually(
      async () => acts(),
      (all) => all.length === 1,
    );
    copies.progress('qa', 43);
    await expect(
      eventually(
        () => shown(run),
        ({ steps }) => (steps as Json[])[1]?.progress?.percent === 43,
      ),
    ).resolves.toMatchObject({
      steps: [
        { name: 'Check sandbox qa', state: 'succeeded' },
        {
          name: 'Create sandbox qa',
          state: 'begun',
          detail: 'Processing, about 1 h 30 min left',
          externalId: copies.copy('qa').id,
        },
        { name: 'Register sandbox qa', state: 'planned' },
      ],
    });
    await copies.finish('qa');
    const orgUsername = `${org.username}.qa`;
    await expect(ended(run)).resolves.toMatchObject({
      status: 'Completed',
      result: {
        sandboxName: 'qa',
        copyId: copies.copy('qa').id,
        orgUsername,
        isNew: true,
        environments: [`${repositoryIdentifier}: qa-${made}`],
      },
    });
    expect(copies.ledger).toMatchObject([
      { act: 'create', fields: { LicenseType: 'DEVELOPER', ActivationUserGroupId: copies.groups.get('Testers') } },
    ]);
    await expect(registered(orgUsername)).resolves.toMatchObject({ orgId: crm.org(`${org.name}-qa`).orgId });
  });

  test('is followed by the runs that are asked for, one after another', async () => {
    const postCopy = [
      { id: 'request-unfreeze-users', allExcept: [] },
      { id: 'request-unfreeze-users', usernames: ['nobody@x.example'] },
      { id: 'request-unfreeze-users', allExcept: [] },
    ];
    const bad = { ...DEVELOPER, postCopy: [{ id: 'request-sandbox-delete', sandboxName: 'x' }] };
    expect((await start('request-sandbox-create', bad, 409)).detail).toContain('postCopy takes no');
    const unknown = { ...DEVELOPER, postCopy: [postCopy[0], { id: 'run-nothing' }] };
    expect((await start('request-sandbox-create', unknown, 400)).errors).toMatchObject([
      { pointer: '#/body/payload/postCopy/1/id' },
    ]);
    const run = await start('request-sandbox-create', { ...DEVELOPER, postCopy });
    await begun(run);
    await copies.finish('qa');
    await expect(ended(run)).resolves.toMatchObject({ status: 'Completed' });
    const followed = await eventually(
      () => shown(run),
      ({ steps }) => (steps as Json[])[5]?.state !== 'planned',
    );
    expect(stepsOf(followed).slice(3)).toEqual([
      ['Follow-up 1: request-unfreeze-users', 'succeeded'],
      ['Follow-up 2: request-unfreeze-users', 'failed'],
      ['Follow-up 3: request-unfreeze-users', 'skipped'],
    ]);
    await expect(shown({ id: followed.steps[3].externalId })).resolves.toMatchObject({
      status: 'Completed',
      payload: { postCopyOf: run.id, orgUsername: `${org.username}.qa`, repositoryIdentifier },
      triggeredBy: followed.triggeredBy,
    });
  });

  test('is not asked for twice when the answer is lost', async () => {
    org.fail('lost', { path: /SandboxInfo$/ });
    const run = await start('request-sandbox-create', DEVELOPER);
    await begun(run);
    await copies.finish('qa');
    await expect(ended(run)).resolves.toMatchObject({ status: 'Completed' });
    expect(acts()).toEqual(['create qa']);
  });

  test('is asked for again when the request did not arrive', async () => {
    org.fail('drop', { path: /SandboxInfo$/ });
    const run = await start('request-sandbox-create', DEVELOPER);
    await begun(run);
    await copies.finish('qa');
    await expect(ended(run)).resolves.toMatchObject({ status: 'Completed' });
    expect(acts()).toEqual(['create qa']);
  });

  test('fails where the copying breaks off, and says how far it came', async () => {
    const run = await start('request-sandbox-create', { licenseType: 'FULL' });
    await begun(run);
    copies.progress('qa', 80);
    copies.fail('qa');
    const failed = await ended(run);
    expect(failed).toMatchObject({
      status: 'Failed',
      success: { error: expect.stringContaining('broke off at 80 %') },
    });
    expect(stepsOf(failed).map(([, state]) => state)).toEqual(['succeeded', 'failed', 'planned']);
  });

  test('clones a sandbox, and waits for its activation where that is asked for', async () => {
    await sandbox('old');
    const run = await start('request-sandbox-create', { sourceSandboxName: 'old', autoActivate: false });
    await begun(run);
    await copies.finish('qa');
    const done = await ended(run);
    expect(done).toMatchObject({ status: 'Completed', result: { status: 'Pending Activation' } });
    expect(stepsOf(done)[2]).toEqual(['Register sandbox qa', 'skipped']);
    const activation = await start('request-sandbox-activate', {});
    await eventually(
      async () => acts(),
      (all) => all.length === 2,
    );
    await copies.finish('qa');
    await expect(ended(activation)).resolves.toMatchObject({
      status: 'Completed',
      result: { orgUsername: `${org.username}.qa` },
    });
    expect(copies.ledger[0]?.fields).toMatchObject({ SourceId: copies.copy('old').infoId });
    expect(acts()).toEqual(['create qa', 'ACTIVATE qa']);
  });

  test('is refused before anybody is asked where the database knows that it cannot go', async () => {
    const refused = async (payload: object) => (await start('request-sandbox-create', payload, 409)).detail as string;
    expect(await refused({})).toContain('give licenseType');
    expect(await refused({ licenseType: 'GOLD' })).toContain('DEVELOPER_PRO');
    expect(await refused({ licenseType: 'DEVELOPER PRO' })).toContain('activationGroup');
    expect(await refused({ licenseType: 'PARTIAL' })).toContain('templateId');
    expect(await refused({ ...DEVELOPER, sandboxName: 'far too long' })).toContain('10 letters');
    expect(await refused({ ...DEVELOPER, productionUsername: 'nobody@x.example' })).toContain('not registered');
  });

  test('says in the words of production why it cannot go', async () => {
    await sandbox('qa');
    const why = async (payload: object) =>
      (await ended(await start('request-sandbox-create', payload))).success.error as string;
    expect(await why(DEVELOPER)).toContain('There is a sandbox qa already');
    expect(await why({ ...DEVELOPER, sandboxName: 'x', activationGroup: 'Nobody' })).toContain('no Group');
    copies.licences.set('FULL', 0);
    expect(await why({ licenseType: 'FULL', sandboxName: 'x' })).toContain('no available FULL licenses');
    copies.isManager = false;
    expect(await why({ ...DEVELOPER, sandboxName: 'x' })).toContain('insufficient access');
    expect(acts()).toEqual([]);
  });

  test('goes on in production when the run is cancelled, which the run says', async () => {
    const run = await start('request-sandbox-create', DEVELOPER);
    await begun(run);
    await app.as(app.owner).post(200, `/api/flows/runs/${run.id}/cancel`);
    await expect(ended(run)).resolves.toMatchObject({
      status: 'Cancelled',
      success: { error: expect.stringContaining('The copying goes on') },
    });
  });
});

describe('refreshing a sandbox', () => {
  const environment = async (orgUsername: string): Promise<Json> =>
    app.as(app.owner).post(201, '/api/environments', {
      repositoryIdentifier,
      name: `uat-${made}`,
      category: 'test',
      branch: `uat-${made}`,
      orgUsername,
    });

  test('copies it anew as it was defined, and follows its new org', async () => {
    const former = await sandbox('uat');
    const formerId = former.orgId;
    await environment(former.username);
    await app.sql(
      `insert into org_component_type (tenant_id, org_id, platform_org_id, metadata_type, synced_at)
       select tenant_id, id, platform_org_id, 'ApexClass', '2026-11-01T00:00:00Z' from crm_org where username = ?`,
      [former.username],
    );
    for (const [name, state, changed] of [
      ['Changed', 'unmanaged', 'now()'],
      ['Packaged', 'installed', 'now()'],
      ['Old', 'unmanaged', "now() - interval '40 days'"],
    ])
      await app.sql(
        `insert into org_component (id, tenant_id, org_id, platform_org_id, metadata_type, member_name, manageable_state, last_modified_at)
         select gen_random_uuid(), tenant_id, id, platform_org_id, 'ApexClass', ?, ?, ${changed} from crm_org where username = ?`,
        [name, state, former.username],
      );
    const run = await start('request-sandbox-refresh', { sandboxName: undefined, environmentName: `uat-${made}` });
    await begun(run);
    await copies.finish('uat');
    await expect(ended(run)).resolves.toMatchObject({
      status: 'Completed',
      result: {
        orgUsername: former.username,
        isNew: false,
        changesInIt: { components: 1, indexedAt: '2026-11-01T00:00:00.000Z' },
        environments: [`${repositoryIdentifier}: uat-${made}`],
      },
    });
    expect(copies.ledger).toMatchObject([
      { act: 'refresh', fields: { LicenseType: 'DEVELOPER', ActivationUserGroupId: copies.groups.get('Testers') } },
    ]);
    expect(former.orgId).not.toBe(formerId);
    await expect(app.sql('select 1 from org_component where platform_org_id = ?', [formerId])).resolves.toEqual([]);
    await expect(registered(former.username)).resolves.toMatchObject({
      orgId: former.orgId,
      isJitRegistration: true,
    });
  });

  test('names it by the user who signs in from now on, everywhere', async () => {
    const former = await sandbox('uat', `ada@people-${made}.example.uat`);
    const { id } = await environment(former.username);
    const run = await start('request-sandbox-refresh', { sandboxName: 'uat' });
    await begun(run);
    former.username = `${org.username}.uat`;
    await copies.finish('uat');
    await expect(ended(run)).resolves.toMatchObject({ status: 'Completed', result: { orgUsername: former.username } });
    await expect(app.as(app.owner).get(200, `/api/environments/${id}`)).resolves.toMatchObject({
      orgUsername: former.username,
    });
  });

  test('is not asked for twice when the answer is lost', async () => {
    await sandbox('uat');
    org.fail('lost', { path: /SandboxInfo\/\w+$/, times: 2 });
    const run = await start('request-sandbox-refresh', { sandboxName: 'uat' });
    await begun(run);
    await copies.finish('uat');
    await expect(ended(run)).resolves.toMatchObject({ status: 'Completed' });
    expect(acts()).toEqual(['refresh uat']);
  });

  test('does not go too early, and says from when it does', async () => {
    await sandbox('uat');
    copies.copy('uat').createdAt = new Date(Date.now() - 3_600_000);
    const why = async (id: string) => (await ended(await start(id, { sandboxName: 'uat' }))).success.error as string;
    const due = new Date(copies.copy('uat').createdAt.getTime() + DAY_MS).toISOString();
    expect(await why('request-sandbox-refresh')).toContain(`a day after it was last copied: uat from ${due}`);
    expect(await why('request-sandbox-delete')).toContain(due);
    expect(await why('request-sandbox-activate')).toContain('not pending activation: its status is Completed');
    copies.progress('uat', 12);
    expect(await why('request-sandbox-refresh')).toContain('is being copied since');
    expect(acts()).toEqual([]);
  });

  test('is partly done where the copy cannot be registered, and nothing of the old org is left', async () => {
    const former = await sandbox('uat');
    const run = await start('request-sandbox-refresh', { sandboxName: 'uat' });
    await begun(run);
    copies.copy('uat').isOwn = false;
    await copies.finish('uat');
    await expect(ended(run)).resolves.toMatchObject({
      status: 'Partial',
      success: { error: expect.stringContaining('could not be registered') },
      steps: [{}, { state: 'succeeded' }, { state: 'failed' }],
    });
    copies.copy('uat').isOwn = true;
    // A poll may have been refused meanwhile, and orgs that refuse their credential are left alone.
    await app.as(app.owner).post(200, `/api/auth/crm/test-connection?username=${former.username}`);
    await expect(registered(former.username)).resolves.toMatchObject({ orgId: former.orgId });
  });

  test('is registered as soon as production gives a code for it', async () => {
    await sandbox('uat');
    const run = await start('request-sandbox-refresh', { sandboxName: 'uat' });
    await begun(run);
    copies.copy('uat').isAuthDelayed = true;
    await copies.finish('uat');
    await eventually(
      async () => crm.requests.filter(({ path }) => path.endsWith('/sandboxAuth')).length,
      (calls) => calls > 1,
    );
    copies.copy('uat').isAuthDelayed = false;
    await expect(ended(run)).resolves.toMatchObject({ status: 'Completed' });
  });
});

describe('activating a sandbox', () => {
  test('may discard it, which leaves the one that was there', async () => {
    const former = await sandbox('uat');
    const { orgId } = former;
    const refresh = await start('request-sandbox-refresh', { sandboxName: 'uat', autoActivate: false });
    await begun(refresh);
    await copies.finish('uat');
    await expect(ended(refresh)).resolves.toMatchObject({ result: { status: 'Pending Activation' } });
    await expect(
      ended(await start('request-sandbox-activate', { sandboxName: 'uat', action: 'discard' })),
    ).resolves.toMatchObject({
      status: 'Completed',
      steps: [{}, { name: 'Discard sandbox uat', state: 'succeeded' }, { state: 'skipped' }],
    });
    expect(acts()).toEqual(['refresh uat', 'DISCARD uat']);
    await expect(registered(former.username)).resolves.toMatchObject({ orgId });
  });

  test('is not asked for twice when the answer is lost', async () => {
    await sandbox('uat');
    copies.progress('uat', 100, 'Pending Activation');
    org.fail('lost', { path: /SandboxProcess\// });
    const run = await start('request-sandbox-activate', { sandboxName: 'uat' });
    await begun(run);
    await copies.finish('uat');
    await expect(ended(run)).resolves.toMatchObject({ status: 'Completed' });
    expect(acts()).toEqual(['ACTIVATE uat']);
  });
});

describe('deleting a sandbox', () => {
  test('is refused while somebody uses it, unless its loss is accepted', async () => {
    const { username } = await sandbox('uat');
    const project = { repositoryIdentifier, name: `uat-${made}`, category: 'test', branch: 'main' };
    await app.as(app.owner).post(201, '/api/environments', { ...project, orgUsername: username });
    await app.as(app.owner).post(201, '/api/review/assignments', {
      repositoryIdentifier,
      assignmentType: 'pr',
      assignmentId: String(made),
      environmentName: project.name,
    });
    for (const type of ['request-sandbox-delete', 'request-sandbox-refresh', 'request-sandbox-activate'])
      expect((await start(type, { sandboxName: 'uat' }, 409)).detail).toContain(`review assignment of pr ${made}`);
    const run = await start('request-sandbox-delete', { sandboxName: 'uat', force: true });
    await expect(ended(run)).resolves.toMatchObject({
      status: 'Completed',
      result: { environments: [`${repositoryIdentifier}: uat-${made}`] },
    });
  });

  test('is of the production org that is named, where another has one of the same name', async () => {
    await sandbox('twin');
    org = await crm.addOrg({ name: `prod-${++made}`, kind: 'production' });
    ({ copies } = org);
    await app.as(app.owner).post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
    await sandbox('twin');
    await expect(ended(await start('request-sandbox-delete', { sandboxName: 'twin' }))).resolves.toMatchObject({
      status: 'Completed',
    });
    expect(acts()).toEqual(['delete twin']);
  });

  test('is not for tokens that are limited to projects which do not use it', async () => {
    await sandbox('uat');
    const other = `acme/other-${made}`;
    await app.as(app.owner).post(201, '/api/projects', { identifier: other, platform: 'host-a' });
    const environment = { repositoryIdentifier: other, name: 'own', category: 'test', branch: 'main' };
    await app.as(app.owner).post(201, '/api/environments', { ...environment, orgUsername: org.username });
    const limited = app.as(
      await app.as(app.owner).post(201, '/api/application-tokens', { name: `limited-${made}`, projects: [other] }),
    );
    const payload = { repositoryIdentifier: other, productionUsername: org.username };
    for (const more of [
      { id: 'request-sandbox-delete', sandboxName: 'uat' },
      { id: 'request-sandbox-create', sandboxName: 'mine', sourceSandboxName: 'uat' },
    ])
      await expect(limited.post(409, '/api/flows/run', { payload: { ...payload, ...more } })).resolves.toMatchObject({
        detail: expect.stringContaining('no sandbox named uat that this token sees'),
      });
  });

  test('removes its record, once, although the answer is lost', async () => {
    const { username } = await sandbox('uat');
    org.fail('lost', { path: /SandboxInfo\/\w+$/, times: 2 });
    const run = await start('request-sandbox-delete', { sandboxName: 'UAT' });
    await expect(ended(run)).resolves.toMatchObject({
      status: 'Completed',
      result: { sandboxName: 'uat', removed: [username] },
    });
    expect(acts()).toEqual(['delete uat']);
    await app.as(app.owner).get(404, `/api/auth/crm/org?username=${encodeURIComponent(username)}`);
  });
});

test('an org that an environment calls otherwise is acted in through its environment alone', async () => {
  const short = `only${made}`;
  const simulated = await sandbox(short);
  await app.as(app.owner).post(201, '/api/environments', {
    repositoryIdentifier,
    name: `short-${made}`,
    category: 'test',
    orgUsername: simulated.username,
  });
  const freeze = { id: 'request-freeze-users', repositoryIdentifier, usernames: ['ada@x.example'] };
  const payload = { ...freeze, orgUsername: short };
  await expect(app.as(app.owner).post(409, '/api/flows/run', { payload })).resolves.toMatchObject({
    detail: expect.stringContaining(`is that of the environment short-${made}, which calls it ${simulated.username}`),
  });
  await start('request-freeze-users', { usernames: ['ada@x.example'], environmentName: `short-${made}` });
});
