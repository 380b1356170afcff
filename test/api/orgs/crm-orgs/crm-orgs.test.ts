import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { ApiClient, Bearer, Json } from '../../../support/client.ts';
import { detected, dropped, ledgerOf } from '../../../support/gc-ledger.ts';
import { leaked } from '../../../support/crm.ts';
import { engineAway } from '../../../support/launch.ts';

let crm: CrmSimulator;
let app: TestApp;
const said: { logs: string[]; problems: string[] } = { logs: [], problems: [] };
let owner: ApiClient;
let application: ApiClient;
let member: ApiClient;

beforeAll(async () => {
  crm = await crmSimulator();
  app = await testApp({ launch: engineAway, said });
  owner = app.as(app.owner);
  application = app.as(app.application);
  member = app.as(app.member);
});
afterAll(async () => {
  await app.close();
  await crm.close();
});

const ORGS = '/api/auth/crm';
const orgOf = (name: string) => crm.org(name);
const named = (username: string) => `${ORGS}/org?${new URLSearchParams({ username, authType: 'none' })}`;
const register = (status: number, name: string, more: object = {}, client = owner) =>
  client.post(status, `${ORGS}/register`, { cliAuthUrl: orgOf(name).authUrl, ...more });
const eventsOf = async (event: string) =>
  (
    await app.sql<{ summary: string }>('select summary from audit_entry where action = ? and tenant_id = ?', [
      event,
      app.tenant.id,
    ])
  ).map(({ summary }) => summary);

describe('registering by an auth URL', () => {
  test('asks the org who it is; again it updates the record', async () => {
    const acme = orgOf('acme');
    const made = await register(201, 'acme', { isDevHub: true, isDefault: true, metadata: { team: 'core' } });
    expect(made).toMatchObject({
      username: acme.username,
      instanceUrl: acme.url,
      orgId: acme.orgId,
      organizationType: 'Enterprise Edition',
      parentProductionUsername: null,
      isJitRegistration: false,
      isDevHub: true,
      isDefault: true,
      metadata: { team: 'core' },
      authType: 'refresh_token',
      health: { status: 'ok', error: null, hint: null },
      expiresAt: null,
    });
    const again = await register(200, 'acme', {}, application);
    expect(again).toMatchObject({ isDevHub: true, isDefault: true, metadata: { team: 'core' } });
    await register(201, 'globex');
    expect(await register(201, 'scratch-1')).toMatchObject({
      organizationType: 'Scratch',
      expiresAt: orgOf('scratch-1').expiresAt?.toISOString(),
    });
    expect((await eventsOf('org.registered')).length).toBe(3);
  });

  test('a refused credential stores nothing and says what to do; members may not register', async () => {
    const globex = orgOf('globex');
    const { items: before } = { items: await owner.get(200, `${ORGS}/orgs`) };
    const problem = await owner.post(400, `${ORGS}/register`, { cliAuthUrl: globex.authUrlOf('5AepNone') });
    expect(problem).toMatchObject({ code: 'invalid_request', platformCode: 'invalid_grant', hint: expect.any(String) });
    expect(problem.errors[0].pointer).toBe('#/body/cliAuthUrl');
    expect(await owner.get(200, `${ORGS}/orgs`)).toEqual(before);
    await register(403, 'globex', {}, member);
  });

  test('an org that is away is 502; a redirect is not followed, and HTML is no answer', async () => {
    for (const fault of ['drop', 'html', 'html-503', 'error'] as const) {
      orgOf('globex').fail(fault, { path: /oauth2\/token/ });
      const problem = await register(502, 'globex');
      expect([fault, problem.code]).toEqual([fault, 'upstream_error']);
      orgOf('globex').heal();
    }
    orgOf('globex').fail('redirect', { path: /oauth2\/token/ });
    await register(400, 'globex');
    expect(crm.requests.filter(({ org }) => org === 'elsewhere')).toEqual([]);
  });

  test.each([
    'force://PlatformCLI::undefined@127.0.0.1',
    'force://PlatformCLI::@127.0.0.1',
    'force://PlatformCLI::5Aep@',
    'force://PlatformCLI::5Aep\n@127.0.0.1',
    'force://PlatformCLI::5Aep@10.0.0.1',
    'force://PlatformCLI::5Aep@169.254.169.254',
    'force://PlatformCLI::5Aep@0xa000001',
    'force://PlatformCLI::5Aep@[::ffff:10.0.0.1]',
    'https://acme.example',
  ])('%j is refused', async (cliAuthUrl) => {
    const { errors, detail } = await owner.post(400, `${ORGS}/register`, { cliAuthUrl });
    expect(errors[0].pointer).toBe('#/body/cliAuthUrl');
    expect(detail).not.toContain('5Aep');
  });

  test('the address must be that of the auth URL or of the org, and a token reply cannot lead elsewhere', async () => {
    const globex = orgOf('globex');
    const { errors } = await register(400, 'globex', { instanceUrl: 'https://elsewhere.example' });
    expect(errors[0].pointer).toBe('#/body/instanceUrl');
    expect(await register(200, 'globex', { instanceUrl: `${globex.url}/` })).toMatchObject({ instanceUrl: globex.url });
    globex.claimedUrl = 'http://169.254.169.254';
    expect((await register(502, 'globex')).code).toBe('upstream_error');
    globex.claimedUrl = undefined;
  });

  test('an address that was chosen stays until the org moves', async () => {
    const org = await crm.addOrg({ name: 'moving', kind: 'production' });
    org.claimedUrl = org.url.replace('127.0.0.1', 'localhost');
    await register(201, 'moving', { instanceUrl: org.url });
    const addressAfterTest = async () => {
      org.endSessions();
      await member.post(200, `${ORGS}/test-connection?username=${org.username}`);
      return (await owner.get(200, named(org.username))).instanceUrl as string;
    };
    expect(await addressAfterTest()).toBe(org.url);
    org.claimedUrl = org.url.replace('127.0.0.1', 'moved.localhost');
    expect(await addressAfterTest()).toBe(org.claimedUrl);
    await owner.delete(204, `${ORGS}/org?username=${org.username}`);
  });

  test('a dev hub is verified, a default is one, and there is one default', async () => {
    for (const field of ['isDevHub', 'isDefault']) {
      const problem = await register(400, 'globex', { [field]: true });
      expect(problem.detail).toContain('Unlimited Edition');
      expect(problem.errors[0].pointer).toBe(`#/body/${field}`);
    }
    await register(400, 'acme', { isDefault: true, isDevHub: false });
    const hub = await crm.addOrg({ name: 'hub-2', kind: 'production', isDevHub: true });
    expect(await register(201, 'hub-2', { isDefault: true })).toMatchObject({ isDevHub: true, isDefault: true });
    expect(await owner.get(200, named(orgOf('acme').username))).toMatchObject({ isDefault: false, isDevHub: true });
    await owner.patch(200, named(orgOf('acme').username).replace('&authType=none', ''), { isDefault: true });
    expect(await owner.get(200, named(hub.username))).toMatchObject({ isDefault: false });
  });

  test('metadata are at most 50 pairs of strings', async () => {
    const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
    await register(400, 'globex', { metadata: pairs(51) });
    await register(400, 'globex', { metadata: { a: 1 } });
    expect(Object.keys((await register(200, 'globex', { metadata: pairs(50) })).metadata).length).toBe(50);
    await register(200, 'globex', { metadata: { team: 'two', alias: 'gx' } });
  });
});

describe('registering a sandbox by its name', () => {
  const bySandbox = (status: number, sandboxName: string, productionUsername = orgOf('acme').username) =>
    owner.post(status, `${ORGS}/register-sandbox-by-name`, { sandboxName, productionUsername });

  test('goes through its production org', async () => {
    const sandbox = orgOf('acme-uat');
    expect(await bySandbox(201, 'UAT')).toMatchObject({
      username: sandbox.username,
      orgId: sandbox.orgId,
      organizationType: 'Sandbox',
      instanceUrl: sandbox.url,
      parentProductionUsername: orgOf('acme').username,
      isJitRegistration: true,
      authType: 'jit',
      sandboxName: 'uat',
    });
    expect(await owner.get(200, named('uat'))).toMatchObject({ username: sandbox.username });
    const approvals = sandbox.approvals.length;
    await bySandbox(200, 'uat');
    expect(sandbox.approvals.length).toBe(approvals);
  });

  test('that is refreshed has another id, which its record follows', async () => {
    const sandbox = await crm.addOrg({ name: 'acme-qa', kind: 'sandbox', parent: 'acme', sandboxName: 'qa' });
    const { orgId } = await bySandbox(201, 'qa');
    const ledger = await ledgerOf(app);
    await ledger.environment('qa', { orgUsername: 'QA' });
    await ledger.environment('production', { orgUsername: orgOf('acme').username });
    await ledger.events([detected('A')]);
    for (const environment of ['qa', 'production'])
      await ledger.check(environment, [{ ...dropped('A'), presence: environment === 'qa' ? 'absent' : 'present' }]);
    sandbox.refresh();
    expect(sandbox.orgId).not.toBe(orgId);
    expect(await member.post(200, `${ORGS}/test-connection?username=qa`)).toMatchObject({
      isValid: true,
      orgId: sandbox.orgId,
    });
    expect(await owner.get(200, named('qa'))).toMatchObject({ orgId: sandbox.orgId, health: { status: 'ok' } });
    // A new copy of production has what the old one lacked.
    expect((await ledger.list()).items[0].presence).toMatchObject([{ environment: 'production' }]);
    await owner.delete(204, `${ORGS}/org?username=qa`);
    orgOf('acme').sandboxes = orgOf('acme').sandboxes.filter(({ name }) => name !== 'qa');
  });

  test('needs a registered production org that has it, and has made it', async () => {
    expect((await bySandbox(400, 'uat', 'nobody@acme.example')).errors[0].pointer).toBe('#/body/productionUsername');
    expect((await bySandbox(400, 'nosuch')).errors[0].pointer).toBe('#/body/sandboxName');
    const row = orgOf('acme').sandboxes.find(({ name }) => name === 'dev');
    if (row) row.isOwn = false;
    expect((await bySandbox(400, 'dev')).hint).toEqual(expect.any(String));
    if (row) row.isOwn = true;
    expect(await bySandbox(409, 'copying')).toMatchObject({ code: 'in_progress', copyProgress: 43 });
  });
});

describe('the list', () => {
  const usernames = async (query: string) =>
    (await member.get(200, `${ORGS}/orgs${query}`)).map(({ username }: { username: string }) => username);

  test('is ordered by username and filtered by type, dev hub and metadata', async () => {
    const [acme, globex, scratch, uat] = ['acme', 'globex', 'scratch-1', 'acme-uat'].map(
      (name) => orgOf(name).username,
    );
    expect(await usernames('')).toEqual([acme, uat, globex, orgOf('hub-2').username, scratch].toSorted());
    expect(await usernames('?type=SANDBOX')).toEqual([uat]);
    expect(await usernames('?type=scratch')).toEqual([scratch]);
    expect(await usernames('?type=unlimited%20edition')).toEqual([globex]);
    expect(await usernames('?type=devhub')).toEqual([acme, orgOf('hub-2').username]);
    expect(await usernames('?devhub=false&type=production')).toEqual([globex]);
    expect(await usernames('?metadata=team%3Dtwo,alias%3Dgx')).toEqual([globex]);
    expect(await usernames(`?metadata=${encodeURIComponent('{"team":"two"}')}`)).toEqual([globex]);
    expect(await usernames('?metadata=team%3Dtwo,alias%3Dother')).toEqual([]);
    await member.get(400, `${ORGS}/orgs?metadata=nonsense`);
    const { headers } = await member.request(200, 'GET', `${ORGS}/orgs?limit=2&offset=2`);
    expect(headers.get('link')).toMatch(/rel="next".*rel="prev"/);
  });

  test('shows other tenants nothing', async () => {
    expect(await app.as(app.stranger).get(200, `${ORGS}/orgs`)).toEqual([]);
    await app.as(app.stranger).get(404, named(orgOf('acme').username));
  });
});

describe('one org', () => {
  const credentials = (authType: string) =>
    `${ORGS}/org?${new URLSearchParams({ username: orgOf('acme').username.toUpperCase(), authType })}`;

  test('comes with credentials for owners and applications alone, is never cached, and the reading is audited', async () => {
    const { body, headers } = await owner.request(200, 'GET', credentials('accessToken'));
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body.credentials).toEqual({
      type: 'accessToken',
      accessToken: expect.any(String),
      instanceUrl: orgOf('acme').url,
    });
    expect(crm.secrets.has(body.credentials.accessToken)).toBe(true);
    const { credentials: long } = await application.get(200, credentials('cliAuthUrl'));
    expect(long).toEqual({ type: 'cliAuthUrl', cliAuthUrl: orgOf('acme').authUrl });
    expect(await member.get(200, credentials('accessToken'))).not.toHaveProperty('credentials');
    expect(await owner.get(200, credentials('none'))).not.toHaveProperty('credentials');
    await owner.get(400, credentials('password'));
    expect(await eventsOf('org.credentials_read')).toEqual([
      expect.stringContaining('accessToken'),
      expect.stringContaining('cliAuthUrl'),
    ]);
  });

  test('a just-in-time sandbox has an auth URL from its cached refresh token', async () => {
    const before = orgOf('acme-uat').approvals.length;
    const { credentials: found } = await owner.get(200, `${ORGS}/org?username=uat&authType=cliAuthUrl`);
    expect(found.cliAuthUrl).toMatch(/^force:\/\/PlatformCLI::.+@127\.0\.0\.1/);
    expect(orgOf('acme-uat').approvals.length).toBe(before);
  });

  test('metadata merge, null removes; isDevHub false ends the default', async () => {
    const acme = `${ORGS}/org?${new URLSearchParams({ username: orgOf('acme').username })}`;
    const changed = await owner.patch(200, acme, { metadata: { team: null, alias: 'prod' } });
    expect(changed.metadata).toEqual({ alias: 'prod' });
    expect(await owner.patch(200, acme, { isDevHub: false })).toMatchObject({ isDevHub: false, isDefault: false });
    expect(await owner.patch(200, acme, { isDefault: true })).toMatchObject({ isDevHub: true, isDefault: true });
    const globex = `${ORGS}/org?${new URLSearchParams({ username: orgOf('globex').username })}`;
    expect((await owner.patch(400, globex, { isDevHub: true })).detail).toContain('Unlimited Edition');
    await member.patch(403, acme, { metadata: {} });
    await owner.patch(404, `${ORGS}/org?username=nobody`, { metadata: {} });
  });

  test('a new credential must be that of the same username, and makes a sandbox an ordinary org', async () => {
    const { errors } = await owner.patch(400, `${ORGS}/org?username=uat`, { cliAuthUrl: orgOf('acme').authUrl });
    expect(errors[0].pointer).toBe('#/body/cliAuthUrl');
    const { authUrl } = orgOf('acme-uat');
    expect(await owner.patch(200, `${ORGS}/org?username=uat`, { cliAuthUrl: authUrl })).toMatchObject({
      isJitRegistration: false,
      authType: 'refresh_token',
    });
  });

  test('quotes and backslashes in names are looked up as they are', async () => {
    for (const username of [`o'neil@acme.example`, `a\\' OR Name != '@acme.example`, `' or 1=1 --`]) {
      await owner.get(404, named(username));
      await owner.post(404, `${ORGS}/access-token?${new URLSearchParams({ username })}`);
    }
  });
});

describe('the test of a connection', () => {
  const testOf = (status: number, username: string, client = member) =>
    client.post(status, `${ORGS}/test-connection?${new URLSearchParams({ username })}`);

  test('always asks the org and updates the record; unregistered is 404', async () => {
    const globex = orgOf('globex');
    expect(await testOf(200, globex.username)).toMatchObject({
      isValid: true,
      username: globex.username,
      orgId: globex.orgId,
      error: null,
    });
    globex.fail('html-503', { times: 10 });
    const away = await testOf(200, globex.username);
    expect(away).toMatchObject({ isValid: false, error: expect.stringContaining(globex.username) });
    expect((await owner.get(200, named(globex.username))).health).toMatchObject({ status: 'unreachable' });
    globex.heal();
    await testOf(404, 'nobody@acme.example');
    const tested = await eventsOf('org.connection_tested');
    expect(tested.filter((summary) => summary.includes(globex.username)).length).toBe(2);
  });

  test('a refused credential marks the org once, nothing asks again, and a new one recovers it', async () => {
    const globex = orgOf('globex');
    globex.revokeApprovals();
    expect(await testOf(200, globex.username)).toMatchObject({ isValid: false, hint: expect.any(String) });
    const asked = crm.requests.length;
    for (const _ of [1, 2, 3])
      await owner.post(502, `${ORGS}/access-token?${new URLSearchParams({ username: globex.username })}`);
    expect(crm.requests.length).toBe(asked);
    expect((await owner.get(200, named(globex.username))).health.status).toBe('auth_failed');
    expect((await eventsOf('org.auth_failed')).length).toBe(1);
    const refusedSince = async () =>
      (await owner.get(200, '/api/attention?kinds=org_sign_in_failed')).items.map(({ since }: Json) => since);
    const since = await refusedSince();
    expect(since).toHaveLength(1);
    await testOf(200, globex.username);
    expect(await refusedSince()).toEqual(since);
    expect((await eventsOf('org.auth_failed')).length).toBe(1);
    // An org that is away says nothing of its credential.
    globex.fail('html-503', { times: 100 });
    expect(await testOf(200, globex.username)).toMatchObject({ isValid: false });
    globex.heal();
    expect((await owner.get(200, named(globex.username))).health.status).toBe('auth_failed');
    const cliAuthUrl = globex.authUrlOf(globex.approve());
    await owner.patch(200, `${ORGS}/org?username=${encodeURIComponent(globex.username)}`, { cliAuthUrl });
    expect((await owner.get(200, named(globex.username))).health).toMatchObject({ status: 'ok', error: null });
    expect((await eventsOf('org.auth_recovered')).length).toBe(1);
    expect(await refusedSince()).toEqual([]);
    await owner.post(200, `${ORGS}/access-token?${new URLSearchParams({ username: globex.username })}`);
  });
});

describe('limits to projects and tenants', () => {
  test('an org of other projects is not reached through its production org or dev hub either', async () => {
    const [acme, dev, scratch] = [orgOf('acme'), orgOf('acme-dev'), orgOf('scratch-1')];
    await owner.post(200, `${ORGS}/register`, { cliAuthUrl: acme.authUrl, isDevHub: true });
    await owner.request(201, 'POST', `${ORGS}/register-sandbox-by-name`, {
      body: { sandboxName: 'dev', productionUsername: acme.username },
    });
    await owner.post(201, '/api/projects', {
      identifier: 'acme/hub',
      platform: 'host-a',
      configuration: { devHubs: [acme.username] },
    });
    await owner.post(201, '/api/projects', { identifier: 'acme/orgs', platform: 'host-a' });
    for (const { name, username } of [dev, scratch])
      await owner.post(201, '/api/environments', {
        repositoryIdentifier: 'acme/orgs',
        name,
        category: 'test',
        orgUsername: username,
      });
    const tokenOf = (name: string): Promise<Bearer> =>
      owner.post(201, '/api/application-tokens', { name, projects: [`acme/${name}`] });
    const [hub, orgs] = [app.as(await tokenOf('hub')), app.as(await tokenOf('orgs'))];
    const minted = crm.requests.length;
    await hub.post(404, `${ORGS}/access-token?sandboxName=dev`);
    await hub.post(404, `${ORGS}/sandbox/authenticate`, { sandboxName: 'dev', productionUsername: acme.username });
    await hub.get(404, `${ORGS}/frontdoor?target=dev`);
    await hub.post(404, `${ORGS}/access-token?${new URLSearchParams({ username: scratch.username })}`);
    await hub.post(404, `${ORGS}/scratch/authenticate`, { scratchOrgUsername: scratch.username });
    await hub.get(404, `${ORGS}/frontdoor?${new URLSearchParams({ target: scratch.username })}`);
    // Nor are orgs that nobody registered, unless an environment of its projects names them.
    const uat = orgOf('acme-uat');
    const door = `${ORGS}/frontdoor?redirect=false&target=uat&prodOrg=${acme.username}`;
    const sandboxes = async () => hub.get(200, `${ORGS}/sandboxes?productionUsername=${acme.username}`);
    await owner.delete(204, named('uat').replace('&authType=none', ''));
    await hub.get(404, door);
    await hub.post(400, `${ORGS}/register-sandbox-by-name`, {
      sandboxName: 'uat',
      productionUsername: acme.username,
    });
    expect(await sandboxes()).toEqual([]);
    await owner.post(201, '/api/environments', {
      repositoryIdentifier: 'acme/hub',
      name: 'uat',
      category: 'test',
      orgUsername: uat.username,
    });
    await hub.get(200, door);
    expect(await sandboxes()).toMatchObject([{ name: 'uat', username: null }]);
    await hub.request(201, 'POST', `${ORGS}/register-sandbox-by-name`, {
      body: { sandboxName: 'uat', productionUsername: acme.username },
    });
    const reached = crm.requests.slice(minted).filter(({ org }) => org === dev.name || org === scratch.name);
    expect(reached).toEqual([]);
    // Who sees the sandbox alone signs in to it, and learns no more of its production org than its username.
    const { productionOrg } = await orgs.post(200, `${ORGS}/sandbox/authenticate`, { sandboxName: 'dev' });
    expect(productionOrg).toEqual({ username: acme.username, orgId: null, instanceUrl: null });
    await owner.delete(204, named(dev.username).replace('&authType=none', ''));
  });

  test('a token limited to projects sees the orgs that their environments and dev hubs name', async () => {
    const [acme, uat] = [orgOf('acme').username, orgOf('acme-uat').username];
    await owner.post(201, '/api/projects', {
      identifier: 'acme/shop',
      platform: 'host-a',
      configuration: { devHubs: [acme.toUpperCase()] },
    });
    await owner.post(201, '/api/environments', {
      repositoryIdentifier: 'acme/shop',
      name: 'uat',
      category: 'test',
      orgUsername: uat,
    });
    await owner.post(201, '/api/projects', { identifier: 'acme/other', platform: 'host-a' });
    const tokenOf = (name: string): Promise<Bearer> =>
      owner.post(201, '/api/application-tokens', { name, projects: [`acme/${name}`] });
    const [shop, other] = [app.as(await tokenOf('shop')), app.as(await tokenOf('other'))];
    expect((await shop.get(200, `${ORGS}/orgs`)).map(({ username }: { username: string }) => username)).toEqual([
      acme,
      uat,
    ]);
    await shop.post(200, `${ORGS}/access-token?${new URLSearchParams({ username: uat })}`);
    await shop.post(404, `${ORGS}/access-token?${new URLSearchParams({ username: orgOf('globex').username })}`);
    await shop.get(404, named(orgOf('globex').username));
    expect(await other.get(200, `${ORGS}/orgs`)).toEqual([]);
    await other.get(404, named(acme));
    await shop.patch(403, `${ORGS}/org?username=${acme}`, { isDefault: true });
    await other.post(403, `${ORGS}/register`, { cliAuthUrl: orgOf('acme').authUrl });
    const health = await shop.get(200, `${ORGS}/health`);
    expect(health.map(({ environments }: { environments: unknown }) => environments)).toEqual([
      [],
      [{ repositoryIdentifier: 'acme/shop', name: 'uat' }],
    ]);
  });

  test('a token limited to projects names a sandbox that it registers in environments of all projects', async () => {
    const sandbox = await crm.addOrg({ name: 'acme-named', kind: 'sandbox', parent: 'acme', sandboxName: 'named' });
    const environment = async (project: string, orgUsername: string) => {
      await owner.post(201, '/api/projects', {
        identifier: `acme/${project}`,
        platform: 'host-a',
        configuration: { devHubs: [orgOf('acme').username] },
      });
      const { id } = await owner.post(201, '/api/environments', {
        repositoryIdentifier: `acme/${project}`,
        name: 'named',
        category: 'test',
        orgUsername,
      });
      return `/api/environments/${id}`;
    };
    await environment('namer', sandbox.username);
    const path = await environment('hidden', 'NAMED');
    const token: Bearer = await owner.post(201, '/api/application-tokens', {
      name: 'namer',
      projects: ['acme/namer'],
    });
    await app.as(token).request(201, 'POST', `${ORGS}/register-sandbox-by-name`, {
      body: { sandboxName: 'named', productionUsername: orgOf('acme').username },
    });
    expect(await owner.get(200, path)).toMatchObject({ orgUsername: sandbox.username, version: 2 });
    const [entry] = await app.sql<{ before: unknown; after: unknown; repository_identifier: string }>(
      `select before, after, repository_identifier from audit_entry where action = 'environment.updated'
      and tenant_id = ? order by sequence desc limit 1`,
      [app.tenant.id],
    );
    expect(entry).toEqual({
      before: { orgUsername: 'NAMED' },
      after: { orgUsername: sandbox.username },
      repository_identifier: 'acme/hidden',
    });
    await owner.delete(204, `${ORGS}/org?username=named`);
    orgOf('acme').sandboxes = orgOf('acme').sandboxes.filter(({ name }) => name !== 'named');
  });

  test('a tenant that registers the org of another has its own record and credential', async () => {
    const acme = orgOf('acme');
    const stranger = app.as(app.stranger);
    const cliAuthUrl = acme.authUrlOf(acme.approve());
    await stranger.post(201, `${ORGS}/register`, { cliAuthUrl, metadata: { whose: 'theirs' } });
    const theirs = await stranger.get(200, `${ORGS}/org?username=${acme.username}&authType=cliAuthUrl`);
    expect(theirs.credentials.cliAuthUrl).toBe(cliAuthUrl);
    const ours = await owner.get(200, `${ORGS}/org?username=${acme.username}&authType=cliAuthUrl`);
    expect(ours.credentials.cliAuthUrl).toBe(acme.authUrl);
    await stranger.delete(204, `${ORGS}/org?username=${acme.username}`);
    await owner.get(200, named(acme.username));
  });
});

test('the health of orgs shows the limit that is nearest to its end', async () => {
  const worst = { name: 'DailyApiRequests', usagePct: 91.5, alertLevel: 'critical', forecastAt: null };
  await app.sql(
    `insert into org_limit_state (tenant_id, org_id, worst) select tenant_id, id, ?::jsonb from crm_org where username = ? and tenant_id = ?
     on conflict (tenant_id, org_id) do update set worst = excluded.worst`,
    [JSON.stringify(worst), orgOf('globex').username, app.tenant.id],
  );
  const health = await member.get(200, `${ORGS}/health`);
  const shown = health.filter(({ worstLimit }: { worstLimit: unknown }) => worstLimit !== null);
  expect(shown).toMatchObject([{ username: orgOf('globex').username, worstLimit: worst, health: { status: 'ok' } }]);
});

test('the health of orgs shows the last reading of their metadata', async () => {
  const { username, orgId } = orgOf('acme');
  const sync = (status: string, platformOrgId: string, minutes: number) =>
    app.sql(
      `insert into org_sync (id, tenant_id, org_id, platform_org_id, source, status, requested_by, finished_at, message, created_at)
       select gen_random_uuid(), tenant_id, id, ?, 'refresh', ?, 'x', now(), 'why', now() + make_interval(mins => ?)
       from crm_org where username = ? and tenant_id = ?`,
      [platformOrgId, status, minutes, username, app.tenant.id],
    );
  await sync('succeeded', orgId, 0);
  await sync('failed', orgId, 1);
  await sync('requested', orgId, 2);
  await sync('succeeded', 'that of another org', 3);
  const health = await member.get(200, `${ORGS}/health`);
  const shown = health.filter(({ lastSync }: { lastSync: unknown }) => lastSync !== null);
  expect(shown).toMatchObject([
    { username, lastSync: { status: 'failed', message: 'why', finishedAt: expect.any(String) } },
  ]);
});

test('sandboxes of a production org show the progress of their copies', async () => {
  const sandboxes = await member.get(200, `${ORGS}/sandboxes?productionUsername=${orgOf('acme').username}`);
  expect(sandboxes).toMatchObject([
    { name: 'copying', state: 'copying', copyProgress: 43, username: null },
    { name: 'dev', state: 'ready', username: null },
    { name: 'uat', state: 'ready', copyProgress: 100, username: orgOf('acme-uat').username },
  ]);
  await member.get(400, `${ORGS}/sandboxes?productionUsername=uat`);
});

test('what happens to orgs is announced to webhooks, without secrets', async () => {
  await owner.post(201, '/api/webhooks', { name: 'orgs', events: ['org.*'], config: { url: 'http://127.0.0.1:9/' } });
  const org = await crm.addOrg({ name: 'announced', kind: 'production' });
  await register(201, 'announced');
  org.revokeApprovals();
  const path = `${ORGS}/test-connection?username=${org.username}`;
  for (const _ of [1, 2]) await member.post(200, path);
  await register(200, 'announced', { cliAuthUrl: org.authUrlOf(org.approve()) });
  await owner.delete(204, `${ORGS}/org?username=${org.username}`);
  const rows = await app.sql<{ event: string; payload: { orgUsername: string } }>(
    'select event, payload from webhook_delivery order by id',
  );
  expect(rows.map(({ event }) => event)).toEqual([
    'org.registered',
    'org.auth_failed',
    'org.auth_recovered',
    'org.removed',
  ]);
  for (const { payload } of rows) expect(payload.orgUsername).toBe(org.username);
});

test('a sandbox that is registered by its auth URL is found by its name, and keeps that credential while it works', async () => {
  const sandbox = await crm.addOrg({ name: 'acme-own', kind: 'sandbox', parent: 'acme', sandboxName: 'own' });
  const acme = orgOf('acme').username;
  const bySandbox = () =>
    owner.post(200, `${ORGS}/register-sandbox-by-name`, { sandboxName: 'own', productionUsername: acme });
  const repositoryIdentifier = 'acme/short-names';
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  const environment = (name: string) =>
    owner.post(201, '/api/environments', { repositoryIdentifier, name, category: 'test', orgUsername: 'OWN' });
  const { id } = await environment('before');
  expect(await register(201, 'acme-own')).toMatchObject({ sandboxName: 'own', parentProductionUsername: acme });
  // Wherever an environment names an org, it is by the username.
  for (const path of [`/api/environments/${id}`, `/api/environments/${(await environment('after')).id}`])
    expect((await owner.get(200, path)).orgUsername).toBe(sandbox.username);
  expect(await owner.get(200, named('OWN'))).toMatchObject({ username: sandbox.username });
  const exchanged = sandbox.approvals.length;
  expect(await bySandbox()).toMatchObject({ isJitRegistration: false, authType: 'refresh_token' });
  expect(sandbox.approvals.length).toBe(exchanged);
  sandbox.revokeApprovals();
  expect(await bySandbox()).toMatchObject({ isJitRegistration: true, authType: 'jit' });
  await owner.delete(204, `${ORGS}/org?username=own`);
  // A username says nothing of the sandbox's name: its production org does.
  sandbox.username = 'somebody@else.example';
  const cliAuthUrl = sandbox.authUrlOf(sandbox.approve());
  expect(await owner.post(201, `${ORGS}/register`, { cliAuthUrl })).toMatchObject({ sandboxName: null });
  await owner.post(200, `${ORGS}/access-token?sandboxName=own`);
  expect(await owner.get(200, named('own'))).toMatchObject({ username: sandbox.username, isJitRegistration: false });
  await owner.delete(204, `${ORGS}/org?username=own`);
  orgOf('acme').sandboxes = orgOf('acme').sandboxes.filter(({ name }) => name !== 'own');
});

describe('deleting', () => {
  test('is for owners, takes the credentials along, and names the environments in the trail', async () => {
    const uat = `${ORGS}/org?username=uat`;
    await application.delete(403, uat);
    await owner.delete(204, uat);
    await owner.delete(404, uat);
    const [entry] = await app.sql<{ before: { namedBy: string[] } }>(
      `select before from audit_entry where action = 'org.removed' and tenant_id = ? order by sequence desc limit 1`,
      [app.tenant.id],
    );
    expect(entry?.before.namedBy).toEqual(['acme/hub: uat', 'acme/shop: uat']);
    const rows = await app.sql('select 1 from crm_token t left join crm_org o on o.id = t.org_id where o.id is null');
    expect(rows).toEqual([]);
  });

  test('revokes at the platform when asked to, and stays when that fails', async () => {
    const scratch = orgOf('scratch-1');
    const path = `${ORGS}/org?username=${scratch.username}&revoke=true`;
    scratch.fail('html-503', { path: /revoke/ });
    await owner.delete(502, path);
    await owner.delete(204, path);
    expect(scratch.approvals).toEqual([]);
  });

  test('also revokes what was kept of sandboxes without a record, but no auth URL of a scratch org', async () => {
    const [parent, sandbox, scratch] = [
      await crm.addOrg({ name: 'initech', kind: 'production', isDevHub: true }),
      await crm.addOrg({ name: 'initech-box', kind: 'sandbox', parent: 'initech', sandboxName: 'box' }),
      await crm.addOrg({ name: 'initech-scratch', kind: 'scratch', parent: 'initech' }),
    ];
    await register(201, 'initech', { isDevHub: true });
    await owner.post(200, `${ORGS}/access-token?sandboxName=box`);
    await owner.post(200, `${ORGS}/access-token?${new URLSearchParams({ username: scratch.username })}`);
    const others = sandbox.approvals.length - 1;
    const path = `${ORGS}/org?username=${parent.username}&revoke=true`;
    sandbox.fail('html-503', { path: /revoke/ });
    expect((await owner.delete(502, path)).detail).toContain('sandbox box');
    await owner.delete(204, path);
    expect([parent, sandbox, scratch].map(({ approvals }) => approvals.length)).toEqual([0, others, 1]);
  });
});

test('nothing that was stored, logged or answered about orgs shows a secret', async () => {
  const texts = await app.sql<{ text: string }>(
    `select row_to_json(e)::text as text from audit_entry e
     union all select row_to_json(o)::text from crm_org o
     union all select row_to_json(t)::text from crm_token t
     union all select row_to_json(d)::text from webhook_delivery d
     union all select row_to_json(i)::text from idempotency_key i`,
  );
  const stored = texts.map(({ text }) => text);
  for (const source of [stored, said.logs, said.problems]) {
    expect(source.length).toBeGreaterThan(20);
    expect(leaked(source, crm.secrets)).toEqual([]);
  }
  // The search finds what is there.
  const [secret = ''] = crm.secrets;
  expect(leaked([...said.problems, `{"detail":"?token=${secret}"}`], crm.secrets)).toEqual([secret]);
});
