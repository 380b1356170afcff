import { generateKeyPairSync } from 'node:crypto';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { ApiClient } from '../../../support/client.ts';
import { leaked } from '../../../support/crm.ts';
import { engineAway } from '../../../support/launch.ts';

let crm: CrmSimulator;
let app: TestApp;
const said: { logs: string[]; problems: string[] } = { logs: [], problems: [] };
let owner: ApiClient;
let member: ApiClient;

const ORGS = '/api/auth/crm';

beforeAll(async () => {
  crm = await crmSimulator();
  app = await testApp({ launch: engineAway, said });
  owner = app.as(app.owner);
  member = app.as(app.member);
  const { authUrl: cliAuthUrl } = crm.org('acme');
  await owner.post(201, `${ORGS}/register`, { cliAuthUrl, isDevHub: true, metadata: { alias: 'prod' } });
  await owner.post(201, `${ORGS}/register`, { cliAuthUrl: crm.org('globex').authUrl });
});
afterAll(async () => {
  await app.close();
  await crm.close();
});

/** Requests to an org whose path matches. */
const asked = (name: string, path: RegExp) => crm.requests.filter((r) => r.org === name && path.test(r.path)).length;
const door = (status: number, query: Record<string, string>, client = member) =>
  client.request(status, 'GET', `${ORGS}/frontdoor?${new URLSearchParams(query)}`);

describe('an access token', () => {
  const token = (status: number, query: Record<string, string>, client = owner) =>
    client.post(status, `${ORGS}/access-token?${new URLSearchParams(query)}`);

  test('of a registered org is minted within five minutes, and never kept for an Idempotency-Key', async () => {
    const acme = crm.org('acme');
    const minted = asked('acme', /oauth2\/token/);
    const query = { username: acme.username };
    const headers = { 'idempotency-key': 'same' };
    const first = await owner.request(200, 'POST', `${ORGS}/access-token?${new URLSearchParams(query)}`, { headers });
    expect(first.headers.get('cache-control')).toBe('no-store');
    expect(first.body).toEqual({
      accessToken: expect.any(String),
      instanceUrl: acme.url,
      username: acme.username,
      orgId: acme.orgId,
      isDevHub: true,
    });
    expect(asked('acme', /oauth2\/token/)).toBe(minted);
    await app.sql(`update crm_token set minted_at = minted_at - interval '6 minutes'`);
    const second = await owner.request(200, 'POST', `${ORGS}/access-token?${new URLSearchParams(query)}`, { headers });
    expect(second.headers.get('idempotency-replayed')).toBeNull();
    expect(second.body.accessToken).not.toBe(first.body.accessToken);
    expect(asked('acme', /oauth2\/token/)).toBe(minted + 1);
    await token(403, query, member);
    await token(400, {});
    await token(400, { username: acme.username, sandboxName: 'uat' });
    await token(200, { username: acme.username, repository: 'acme/anything' });
  });

  test('of a scratch org comes by the auth URL that its dev hub stores', async () => {
    const scratch = crm.org('scratch-1');
    expect(await token(200, { username: scratch.username })).toMatchObject({
      username: scratch.username,
      orgId: scratch.orgId,
      instanceUrl: scratch.url,
      isDevHub: false,
    });
    expect((await token(400, { username: crm.org('scratch-2').username })).detail).toContain('SfdxAuthUrl__c');
    expect(await token(502, { username: crm.org('scratch-3').username })).toMatchObject({ hint: expect.any(String) });
    await token(404, { username: 'nobody@acme.example' });
  });

  test('of an unregistered sandbox exchanges one code, whatever the number of requests', async () => {
    const sandbox = crm.org('acme-dev');
    const approvals = sandbox.approvals.length;
    for (const _ of [1, 2, 3]) {
      expect(await token(200, { sandboxName: 'DEV' })).toMatchObject({
        username: sandbox.username,
        orgId: sandbox.orgId,
        instanceUrl: sandbox.url,
      });
      await app.sql(`update crm_token set minted_at = minted_at - interval '1 hour'`);
    }
    expect(sandbox.approvals.length).toBe(approvals + 1);
    // Its refresh token is a cache: when it is dead, a new code is exchanged.
    sandbox.refresh();
    expect((await token(200, { sandboxName: 'dev' })).orgId).toBe(sandbox.orgId);
    expect(sandbox.approvals.length).toBe(1);
  });

  test('of a sandbox name in several production orgs is ambiguous; being copied it is in progress', async () => {
    const problem = await token(409, { sandboxName: 'uat' });
    expect(problem.code).toBe('ambiguous');
    expect(problem.candidates).toEqual([
      { username: null, sandboxName: 'uat', productionUsername: crm.org('acme').username },
      { username: null, sandboxName: 'uat', productionUsername: crm.org('globex').username },
    ]);
    expect(problem.detail).not.toContain('prodOrg');
    expect(await token(409, { sandboxName: 'copying' })).toMatchObject({ code: 'in_progress', copyProgress: 43 });
    await token(404, { sandboxName: 'nosuch' });
  });

  test('a production org that does not answer counts only while no other one has the sandbox', async () => {
    crm.org('globex').fail('html-503', { times: 100 });
    expect((await token(502, { sandboxName: 'nosuch' })).detail).toContain(crm.org('globex').username);
    await token(200, { sandboxName: 'dev' });
    crm.org('globex').heal();
    crm.org('globex').hasSandboxes = false;
    await token(404, { sandboxName: 'nosuch' });
    expect(await member.get(200, `${ORGS}/sandboxes?productionUsername=${crm.org('globex').username}`)).toEqual([]);
    crm.org('globex').hasSandboxes = true;
  });
});

describe('the default dev hub', () => {
  test('is the first registered one of the project, else that of the tenant', async () => {
    const acme = crm.org('acme').username;
    await owner.get(404, `${ORGS}/default-devhub`);
    await owner.patch(200, `${ORGS}/org?username=${acme}`, { isDefault: true });
    const hub = await crm.addOrg({ name: 'hub', kind: 'production', isDevHub: true });
    await owner.post(201, `${ORGS}/register`, { cliAuthUrl: hub.authUrl, isDevHub: true });
    await owner.post(201, '/api/projects', {
      identifier: 'acme/hubs',
      platform: 'host-a',
      configuration: { devHubs: ['gone@acme.example', hub.username, acme] },
    });
    await owner.post(201, '/api/projects', { identifier: 'acme/plain', platform: 'host-a' });
    const of = async (query: string, client = member) =>
      (await client.get(200, `${ORGS}/default-devhub${query}`)).username as string;
    expect(await of('')).toBe(acme);
    expect(await of('?projectIdentifier=acme/hubs')).toBe(hub.username);
    expect(await of('?projectIdentifier=acme/plain')).toBe(acme);
    const { errors } = await member.get(400, `${ORGS}/default-devhub?projectIdentifier=acme/unknown`);
    expect(errors[0].pointer).toBe('#/query/projectIdentifier');
    expect(await member.get(200, `${ORGS}/default-devhub`)).not.toHaveProperty('credentials');
    expect((await owner.get(200, `${ORGS}/default-devhub`)).credentials.type).toBe('accessToken');
    const path = `${ORGS}/default-devhub/access-token`;
    expect((await owner.post(200, `${path}?projectIdentifier=acme/hubs`)).username).toBe(hub.username);
    await member.post(403, path);
  });

  test('signs by a JWT with an integration of kind crm-app, and needs one', async () => {
    const path = `${ORGS}/default-devhub?authType=jwt`;
    expect((await owner.get(400, path)).detail).toContain('crm-app');
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const crmApp = { kind: 'crm-app', name: 'App' };
    await owner.post(400, '/api/integrations', { ...crmApp, credentials: { type: 'token', token: 'x' } });
    await owner.post(400, '/api/integrations', {
      ...crmApp,
      credentials: { type: 'private_key', clientId: 'ci', privateKey: 'nonsense' },
    });
    const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
    await owner.post(400, '/api/integrations', {
      ...crmApp,
      credentials: {
        type: 'private_key',
        clientId: 'ci',
        privateKey: weak.export({ type: 'pkcs8', format: 'pem' }) as string,
      },
    });
    const { id } = await owner.post(201, '/api/integrations', {
      ...crmApp,
      credentials: { type: 'private_key', clientId: 'ci', privateKey: pem },
    });
    crm.org('acme').jwtApps.set('ci', publicKey.export({ type: 'spki', format: 'pem' }) as string);
    expect((await owner.get(200, path)).credentials).toMatchObject({ type: 'jwt', accessToken: expect.any(String) });

    // An org that says it is of a user elsewhere neither gets a JWT for that place nor a token of it.
    const real = await crm.addOrg({ name: 'real', kind: 'production' });
    real.jwtApps.set('ci', publicKey.export({ type: 'spki', format: 'pem' }) as string);
    const fake = await crm.addOrg({ name: 'fake', kind: 'production', username: real.username });
    await owner.post(201, `${ORGS}/register`, { cliAuthUrl: fake.authUrl });
    const credentials = { type: 'private_key', clientId: 'ci', privateKey: pem };
    await owner.patch(200, `/api/integrations/${id}`, { baseUrl: real.url, credentials });
    const refused = await owner.get(502, `${ORGS}/org?username=${real.username}&authType=jwt`);
    expect(refused.platformCode).toBe('OTHER_ORG');
    expect(asked('fake', /token$/)).toBe(1);
  });
});

describe('the front door', () => {
  test('of a sandbox or scratch org is for everybody, opens once, and is never cached or referred to', async () => {
    const { headers } = await door(302, { target: 'dev' });
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    const location = headers.get('location') ?? '';
    expect(new URL(location).origin).toBe(crm.org('acme-dev').url);
    expect(await (await fetch(location)).text()).toContain('Signed in to the simulated org acme-dev at /');
    expect(await (await fetch(location)).text()).toContain('closed');
    const { body } = await door(200, {
      target: crm.org('scratch-1').username,
      redirect: 'false',
      path: '/lightning/page/home',
    });
    expect(await (await fetch(body.url)).text()).toContain('at /lightning/page/home');
  });

  test('of production orgs and dev hubs is for owners and applications', async () => {
    const query = { target: crm.org('acme').username, redirect: 'false' };
    await door(403, query);
    await door(200, query, owner);
    await door(200, query, app.as(app.application));
  });

  test('an ambiguous sandbox needs its production org, by username or alias', async () => {
    const { body: ambiguous } = await door(409, { target: 'uat' });
    expect(ambiguous.candidates.length).toBe(2);
    expect(ambiguous.detail).toContain('prodOrg');
    for (const [prodOrg, name] of [
      ['prod', 'acme-uat'],
      [crm.org('globex').username, 'globex-uat'],
    ] as const) {
      const { body } = await door(200, { target: 'uat', prodOrg, redirect: 'false', repository: 'acme/shop' });
      expect(new URL(body.url).origin).toBe(crm.org(name).url);
    }
    expect((await door(400, { target: 'uat', prodOrg: 'nobody' })).body.errors[0].pointer).toBe('#/query/prodOrg');
    await door(404, { target: 'nosuch' });
    // It is where sandboxes are sought; scratch orgs are those of dev hubs.
    const scratch = { target: crm.org('scratch-1').username, redirect: 'false' };
    await door(200, { ...scratch, prodOrg: crm.org('globex').username });
    // A dev hub that knows it as deleted does not end the search for the one where it is active.
    const [acme, hub] = [crm.org('acme'), crm.org('hub')];
    const row = acme.scratchOrgs.find(({ username }) => username === scratch.target);
    if (row) hub.scratchOrgs.push({ ...row, status: 'Deleted' });
    acme.latencyMs = 300;
    await door(200, scratch);
    hub.scratchOrgs.length = 0;
    // Nor does one whose token is still being asked for hold up the answer of another.
    hub.latencyMs = 1_500;
    await app.sql(`update crm_token set minted_at = null where org_id = (select id from crm_org where username = ?)`, [
      hub.username,
    ]);
    const started = crm.requests.length;
    await door(200, scratch);
    acme.latencyMs = 0;
    expect(crm.requests.slice(started).some(({ org }) => org === 'hub')).toBe(true);
    expect((await app.sql(`select 1 from crm_token where lease_until > now()`)).length).toBe(1);
    hub.latencyMs = 0;
  });

  test.each([
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    'https://evil.example',
    '\\evil',
    '/%2f/evil',
    '/a/../..//b',
  ])('the path %s is refused', async (path) => {
    const { errors } = (await door(400, { target: 'dev', path })).body;
    expect(errors[0].pointer).toBe('#/query/path');
  });

  test('an address off the own origin of the org is 502; without single-use doors the session itself opens', async () => {
    const dev = crm.org('acme-dev');
    dev.frontDoorUrl = 'https://evil.example';
    expect((await door(502, { target: 'dev' })).body.detail).not.toContain('evil');
    dev.frontDoorUrl = undefined;
    dev.hasFrontDoors = false;
    const { body } = await door(200, { target: 'dev', redirect: 'false' });
    expect(await (await fetch(body.url)).text()).toContain('Signed in');
    dev.hasFrontDoors = true;
  });

  test('a link of /api/auth/continue leads there', async () => {
    const params = new URLSearchParams({ action: 'frontDoorUrl', params: 'targetOrg:uat,prodOrg:prod' });
    const { headers } = await member.request(302, 'GET', `/api/auth/continue?${params}`);
    const next = headers.get('location') ?? '';
    const { headers: opened } = await member.request(302, 'GET', next);
    expect(new URL(opened.get('location') ?? '').origin).toBe(crm.org('acme-uat').url);
  });
});

describe('signing in', () => {
  test('to a sandbox', async () => {
    const path = `${ORGS}/sandbox/authenticate`;
    const [dev, acme] = [crm.org('acme-dev'), crm.org('acme')];
    expect(await owner.post(200, path, { sandboxName: 'dev' })).toEqual({
      sandboxName: 'dev',
      sandboxUsername: dev.username,
      accessToken: expect.any(String),
      instanceUrl: dev.url,
      frontDoorUrl: expect.stringContaining(dev.url),
      productionOrg: { username: acme.username, orgId: acme.orgId, instanceUrl: acme.url },
    });
    const { accessToken } = await owner.post(200, path, { sandboxName: 'dev' });
    dev.endSessions();
    expect((await owner.post(200, path, { sandboxName: 'dev' })).accessToken).not.toBe(accessToken);
    await owner.post(409, path, { sandboxName: 'uat' });
    await owner.post(200, path, { sandboxName: 'uat', productionUsername: acme.username });
    await owner.post(409, path, { sandboxName: 'copying' });
    await owner.post(404, path, { sandboxName: 'nosuch' });
    await owner.post(400, path, { sandboxName: "d' OR" });
    await member.post(403, path, { sandboxName: 'dev' });
  });

  test('to a scratch org', async () => {
    const path = `${ORGS}/scratch/authenticate`;
    const [scratch, acme] = [crm.org('scratch-1'), crm.org('acme')];
    expect(await owner.post(200, path, { scratchOrgUsername: scratch.username })).toEqual({
      scratchOrgUsername: scratch.username,
      accessToken: expect.any(String),
      instanceUrl: scratch.url,
      frontDoorUrl: expect.stringContaining(scratch.url),
      cliAuthUrl: scratch.authUrl,
      orgId: scratch.orgId,
      devhubOrg: { username: acme.username, orgId: acme.orgId, instanceUrl: acme.url },
    });
    expect((await owner.post(400, path, { scratchOrgUsername: crm.org('scratch-2').username })).detail).toContain(
      'SfdxAuthUrl__c',
    );
    const globex = { scratchOrgUsername: scratch.username, productionUsername: crm.org('globex').username };
    expect((await owner.post(400, path, globex)).errors[0].pointer).toBe('#/body/productionUsername');
    acme.authField = undefined;
    expect((await owner.post(400, path, { scratchOrgUsername: scratch.username })).detail).toContain('SfdxAuthUrl__c');
    acme.authField = 'SfdxAuthUrl__c';
    const row = acme.scratchOrgs.find(({ username }) => username === scratch.username);
    if (row) row.status = 'Deleted';
    await owner.post(404, path, { scratchOrgUsername: scratch.username });
    if (row) row.status = 'Active';
    // An auth URL of another org, which somebody wrote into the record, opens nothing.
    const target = { target: scratch.username, redirect: 'false' };
    await door(200, target);
    if (row) row.authUrl = crm.org('globex').authUrl;
    expect((await owner.post(502, path, { scratchOrgUsername: scratch.username })).detail).toContain('another org');
    await door(502, target);
    if (row) row.authUrl = scratch.authUrl;
    await owner.post(404, path, { scratchOrgUsername: "o'neil\\@acme.example" });
    await app.as(app.stranger).post(400, path, { scratchOrgUsername: scratch.username });
    // With a rotated refresh token the stored auth URL is dead: the reply has the one that lives.
    scratch.rotatesTokens = true;
    const { cliAuthUrl } = await owner.post(200, path, { scratchOrgUsername: scratch.username });
    await owner.post(201, `${ORGS}/register`, { cliAuthUrl });
    // Registered, it has a credential of its own, which goes on living.
    await app.sql(`update crm_token set minted_at = minted_at - interval '1 hour'`);
    await owner.post(200, path, { scratchOrgUsername: scratch.username });
  });

  test('to a scratch org that rotates refresh tokens works again and again', async () => {
    const scratch = await crm.addOrg({ name: 'rotating', kind: 'scratch', parent: 'acme' });
    scratch.rotatesTokens = true;
    const signIn = () =>
      owner.post(200, `${ORGS}/scratch/authenticate`, { scratchOrgUsername: scratch.username.toUpperCase() });
    const urls = new Set<string>();
    for (const _ of [1, 2, 3]) {
      urls.add((await signIn()).cliAuthUrl);
      await app.sql(`update crm_token set minted_at = minted_at - interval '1 hour'`);
    }
    expect(urls.size).toBe(3);
    expect(scratch.approvals.length).toBe(1);
  });
});

test('every credential that was read and every front door that was opened is in the trail, without the secret', async () => {
  const rows = await app.sql<{ action: string; text: string }>(
    `select action, row_to_json(e)::text as text from audit_entry e where source = 'crm'`,
  );
  const count = (action: string) => rows.filter((row) => row.action === action).length;
  expect(count('org.credentials_read')).toBeGreaterThan(10);
  // A sign-in opens a front door, too.
  const doors = asked('acme-dev', /singleaccess/) + asked('rotating', /singleaccess/);
  expect(doors).toBeGreaterThan(6);
  for (const name of ['acme-dev', 'rotating'])
    expect(
      rows.some(({ action, text }) => action === 'org.front_door_opened' && text.includes(crm.org(name).username)),
    ).toBe(true);
  for (const source of [rows.map(({ text }) => text), said.logs, said.problems]) {
    expect(source.length).toBeGreaterThan(20);
    expect(leaked(source, crm.secrets)).toEqual([]);
  }
});
