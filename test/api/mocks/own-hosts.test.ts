import { createHostHttp } from '../../../activities/adapters/git-hosts/host-http.ts';
import { createLibraryFetch } from '../../../activities/adapters/outbound/library-fetch.ts';
import { outboundAddresses, RefusedAddressError } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import { findOwnMocks, type HostAddresses, withOwnMocks } from '../../../domain/mocks/serving/own-mocks.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { freePort } from '../../support/free-port.ts';
import { idleEngine } from '../../support/launch.ts';
import { mockStage, step } from '../../support/mocks.ts';

const PUBLIC_URL = 'https://quayside.example.com';
let app: TestApp;
let hosts: HostAddresses;
let served: string[];

beforeAll(async () => {
  const port = await freePort();
  const env = {
    PORT: String(port),
    PUBLIC_URL,
    INTERNAL_URL: `http://127.0.0.1:${port}`,
    // As in production: nothing but public addresses.
    OUTBOUND_ALLOW: '2620:fe::/64',
  };
  app = await testApp({ launch: idleEngine, env });
  hosts = withOwnMocks(outboundAddresses(''), findOwnMocks({ publicUrl: PUBLIC_URL, internalUrl: app.url }));
  served = [];
  app.server.on('request', ({ url = '' }) => served.push(url));
});
afterAll(() => app.close());
beforeEach(() => void (served.length = 0));

test('an integration may have a mock workspace as its host, and no other address of the service', async () => {
  const { made } = mockStage(app);
  const { baseUrl } = await made({ name: 'host', record: false });
  const integration = (url: string) => ({
    kind: 'host-a',
    name: `at ${url}`,
    baseUrl: url,
    credentials: { type: 'token', token: 'host-token' },
  });
  for (const url of [
    `${PUBLIC_URL}/api/users`,
    `${PUBLIC_URL}/mocks/../api`,
    `${baseUrl}/../../api`,
    `${baseUrl}/..%2f..%2fapi`,
    `${PUBLIC_URL}/mocks%2f${baseUrl.split('/').at(-1)}`,
    `${app.url}/api`,
    'http://127.0.0.1:9/',
  ])
    await expect(app.as(app.owner).post(400, '/api/integrations', integration(url))).resolves.toMatchObject({
      detail: expect.stringMatching(/^of the service itself|is not at a public address$/),
    });
  await expect(app.as(app.owner).post(201, '/api/integrations', integration(baseUrl))).resolves.toMatchObject({
    baseUrl,
  });
});

test('a CRM org may be registered at a mock workspace, and not at another address of the service', async () => {
  const { armed } = mockStage(app);
  const at = (base: string) => `force://PlatformCLI::a-token@${base.replace('https://', '')}`;
  const { baseUrl } = await armed('login', [
    step('POST', '/login/services/oauth2/token', { access_token: 'of-the-mock', instance_url: `${PUBLIC_URL}/api` }),
  ]);
  const owner = app.as(app.owner);
  const register = (status: number, base: string) =>
    owner.post(status, '/api/auth/crm/register', { cliAuthUrl: at(base) });
  await expect(register(400, `${PUBLIC_URL}/api`)).resolves.toMatchObject({ detail: expect.any(String) });
  await register(400, `${baseUrl}/../../api`);
  served.length = 0;
  // The address of its answer is refused, too.
  await expect(register(502, `${baseUrl}/login`)).resolves.toMatchObject({
    detail: expect.stringMatching(/address of the org in its token reply is refused: of the service itself/),
  });
  const mocked = new URL(baseUrl).pathname;
  expect(served).toEqual(['/api/auth/crm/register', `${mocked}/login/services/oauth2/token`]);
});

test('a scenario has no address of the service as its upstream', async () => {
  const { root, member, made } = mockStage(app);
  const { baseUrl } = await made({ name: 'first', record: false });
  for (const upstream of [baseUrl, `${PUBLIC_URL}/api`, app.url])
    await expect(member.post(400, root, { name: 'loop', upstream })).resolves.toMatchObject({
      detail: expect.stringMatching(/is no upstream|is not at a public address$/),
    });
});

test('a host is asked at the address that the configuration names, without following redirects elsewhere', async () => {
  const { armed } = mockStage(app);
  const { baseUrl } = await armed('moves', [
    step('GET', '/here', { ok: true }),
    { request: { path: '/moved' }, response: { status: 302, headers: { location: '/api/openapi.json' } } },
    { request: { path: '/up' }, response: { status: 307, headers: { location: '../../../health' } } },
  ]);
  const http = createHostHttp(hosts);
  const permitted = createLibraryFetch(hosts, { maxBytes: 10_000 });
  try {
    const get = (url: string) => http.exchange('the host', { method: 'GET', url, headers: {} });
    await expect(get(`${baseUrl}/here`)).resolves.toMatchObject({ isOk: true, value: { json: { ok: true } } });
    await expect(get(`${PUBLIC_URL}/api/users`)).resolves.toMatchObject({ isOk: false, isTransient: false });
    await expect(get(`${baseUrl}/moved`)).resolves.toMatchObject({ isOk: false });
    await expect(permitted.fetch(`${baseUrl}/here`)).resolves.toMatchObject({ status: 200 });
    await expect(permitted.fetch(`${baseUrl}/up`)).resolves.toMatchObject({ status: 307 });
    await expect(permitted.fetch(`${PUBLIC_URL}/api/users`)).rejects.toThrow(RefusedAddressError);
    expect(served.filter((url) => !url.startsWith(new URL(baseUrl).pathname) && !/\/workspaces\//.test(url))).toEqual(
      [],
    );
  } finally {
    await Promise.all([http.close(), permitted.close()]);
  }
});
