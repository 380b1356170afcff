import { type TestApp, testApp } from '../../../support/app.ts';
import { insertUser } from '../../../support/factories.ts';
import { APP, hostASimulator, hostBSimulator, type HostSimulator } from '../../../simulators/host-sign-in.ts';
import { AUDIENCE, openIdSimulator, type OpenIdSimulator } from '../../../simulators/openid-provider.ts';

let hostA: HostSimulator;
let hostB: HostSimulator;
let provider: OpenIdSimulator;
let app: TestApp;
beforeAll(async () => {
  [hostA, hostB, provider] = await Promise.all([hostASimulator(), hostBSimulator(), openIdSimulator()]);
  app = await testApp({
    env: {
      OIDC_ISSUER: provider.issuer,
      OIDC_AUDIENCE: AUDIENCE,
      HOST_A_API_URL: hostA.url,
      HOST_A_OAUTH_TOKEN_URL: hostA.tokenUrl,
      HOST_A_OAUTH_CLIENT_ID: APP.clientId,
      HOST_A_OAUTH_CLIENT_SECRET: APP.clientSecret,
      HOST_B_API_URL: `${hostB.url}/`,
      HOST_B_OAUTH_TOKEN_URL: hostB.tokenUrl,
      HOST_B_OAUTH_CLIENT_ID: APP.clientId,
      HOST_B_OAUTH_CLIENT_SECRET: APP.clientSecret,
    },
  });
});
afterAll(async () => {
  await app.close();
  await Promise.all([hostA.close(), hostB.close(), provider.close()]);
});
afterEach(() => {
  hostA.misbehave(undefined);
  hostB.misbehave(undefined);
});

const resolve = (status: number, access_token: string, provider_token: string, host?: string) =>
  app.as().post(status, '/api/auth/resolve-emails', {
    access_token,
    provider_token,
    ...(host !== undefined && { provider: host }),
  });
const whose = async (email: string) =>
  (
    await app.sql<{ email: string }>(
      'select u.email from user_alias a join user_account u on u.id = a.user_id where a.email = ?',
      [email],
    )
  )[0]?.email;

test('the verified e-mails of host-a become aliases, by which the user is found from then on', async () => {
  hostA.accounts.set('gho_member', {
    id: 583_231,
    login: 'Octo-Member',
    emails: [
      { email: app.member.email, verified: true, primary: true },
      { email: 'Octo@Private.example', verified: true },
      { email: 'claimed@elsewhere.example', verified: false },
    ],
  });
  expect(await resolve(200, app.member.token, 'gho_member')).toEqual({
    aliases: [app.member.email, 'octo@private.example'],
  });
  expect(await whose('octo@private.example')).toBe(app.member.email);
  expect(await whose('claimed@elsewhere.example')).toBeUndefined();
  const token = await provider.issue({ email: 'octo@private.example' });
  expect((await app.as({ token }).get(200, '/api/users/me')).email).toBe(app.member.email);
  const [identity] = await app.sql(`select provider, username, external_id from user_identity`);
  expect(identity).toEqual({ provider: 'host-a', username: 'octo-member', external_id: '583231' });
  const [entry] = await app.sql<{ after: unknown }>(
    `select after from audit_entry where action = 'user.aliases_resolved'`,
  );
  expect(entry).toMatchObject({ after: { host: 'host-a', aliases: [app.member.email, 'octo@private.example'] } });
});

test('all of many addresses are found', async () => {
  const emails = Array.from({ length: 230 }, (_, at) => ({ email: `a${at}@many.example`, verified: at % 10 === 0 }));
  hostA.accounts.set('gho_many', { id: 2, login: 'many', emails });
  const { aliases } = await resolve(200, app.owner.token, 'gho_many', 'host-a');
  expect(aliases).toHaveLength(23);
});

test('the address of a profile of host-b becomes an alias', async () => {
  hostB.accounts.set('eyJ.b', {
    id: 'd6245f20-2af8-44f4-9451-8107cb2767db',
    login: 'Owner',
    emails: [{ email: 'Owner@Corp.example', verified: true }],
  });
  expect(await resolve(200, app.owner.token, 'eyJ.b', 'host-b')).toEqual({ aliases: ['owner@corp.example'] });
});

test('an alias, or a primary address, of somebody else stays theirs', async () => {
  hostA.accounts.set('gho_greedy', {
    id: 3,
    login: 'greedy',
    emails: [app.owner.email, 'octo@private.example', 'mine@greedy.example'].map((email) => ({
      email,
      verified: true,
    })),
  });
  expect(await resolve(200, app.stranger.token, 'gho_greedy')).toEqual({ aliases: ['mine@greedy.example'] });
  expect(await whose(app.owner.email)).toBe(app.owner.email);
  expect(await whose('octo@private.example')).toBe(app.member.email);
});

test('two users who claim one address at once: one has it', async () => {
  hostA.accounts.set('gho_both', { id: 4, login: 'both', emails: [{ email: 'shared@both.example', verified: true }] });
  const answers = await Promise.all(
    [app.owner, app.member, app.stranger].map(({ token }) => resolve(200, token, 'gho_both')),
  );
  expect(answers.filter(({ aliases }) => aliases.length === 1)).toHaveLength(1);
});

test('a token of the identity provider names the user, who need not be a member', async () => {
  await insertUser(app.db, 'alone@example.com');
  hostA.accounts.set('gho_alone', {
    id: 5,
    login: 'alone',
    emails: [{ email: 'alone@private.example', verified: true }],
  });
  expect(await resolve(200, await provider.issue({ email: 'alone@example.com' }), 'gho_alone')).toEqual({
    aliases: ['alone@private.example'],
  });
  await resolve(403, await provider.issue({ email: 'unknown@example.com' }), 'gho_alone');
});

test('credentials that are not good are told apart, and a bad access token does not reach the host', async () => {
  const before = hostA.asked.length;
  await resolve(401, 'nonsense', 'gho_member');
  await resolve(401, app.application.token, 'gho_member');
  expect(hostA.asked).toHaveLength(before);
  expect(await resolve(400, app.member.token, 'gho_unknown')).toMatchObject({
    errors: [{ pointer: '#/body/provider_token' }],
  });
  await resolve(400, app.member.token, 'with\r\nheader: injected');
});

test.each<[string, number, Parameters<HostSimulator['misbehave']>[0]]>([
  ['fails', 502, { status: 500, body: '{}' }],
  ['answers nonsense', 502, { status: 200, body: '<html>' }],
  ['answers another shape', 502, { status: 200, body: '{"unexpected":true}' }],
  ['sends more than anybody reads', 502, { status: 200, body: `"${'x'.repeat(2_000_000)}"` }],
  ['redirects', 502, { status: 307, body: '', headers: { location: 'http://127.0.0.1:1/' } }],
])('a host that %s: %i naming it', async (_, status, how) => {
  hostA.misbehave(how);
  expect(await resolve(status, app.member.token, 'gho_member')).toMatchObject({
    detail: expect.stringMatching(/^host-a /),
  });
  expect(await refresh(status, 'host-a', 'any')).toMatchObject({ detail: expect.stringMatching(/^host-a /) });
});

const refresh = (status: number, host: string, refresh_token: string) =>
  app.as(app.member).post(status, '/api/users/refresh-provider-token', { provider: host, refresh_token });

test('a token of host-a is refreshed with the credentials of the app', async () => {
  hostA.refreshTokens.add('ghr_1');
  expect(await refresh(200, 'host-a', 'ghr_1')).toEqual({
    access_token: 'ghu_next',
    expires_in: 28_800,
    refresh_token: 'ghr_next',
    token_type: 'bearer',
  });
  expect(await refresh(400, 'host-a', 'ghr_1')).toMatchObject({ errors: [{ pointer: '#/body/refresh_token' }] });
});

test('a token of host-b is refreshed with the credentials of the app', async () => {
  hostB.refreshTokens.add('M.1');
  expect(await refresh(200, 'host-b', 'M.1')).toEqual({
    access_token: 'eyJ.next',
    expires_in: 3_599,
    refresh_token: 'M.next',
    token_type: 'Bearer',
  });
  await refresh(400, 'host-b', 'M.1');
});

test('a server whose app the host refuses, or that has none, says so', async () => {
  const other = await testApp({
    env: {
      HOST_A_OAUTH_TOKEN_URL: hostA.tokenUrl,
      HOST_A_OAUTH_CLIENT_ID: APP.clientId,
      HOST_A_OAUTH_CLIENT_SECRET: 'wrong',
    },
  });
  const body = { provider: 'host-a', refresh_token: 'any' };
  const problem = await other.as(other.member).post(502, '/api/users/refresh-provider-token', body);
  expect(problem.detail).toContain('OAuth app');
  expect(JSON.stringify(problem)).not.toContain('wrong');
  await other.as(other.member).post(400, '/api/users/refresh-provider-token', { ...body, provider: 'host-b' });
  await other.as().post(400, '/api/auth/resolve-emails', { access_token: other.member.token, provider_token: 'any' });
  await other.as().post(401, '/api/auth/resolve-emails', { access_token: 'a.forged.token', provider_token: 'any' });
  await other.close();
});
