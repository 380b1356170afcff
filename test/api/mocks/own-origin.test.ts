import { createHostHttp } from '../../../activities/adapters/git-hosts/host-http.ts';
import { outboundAddresses } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import { findOwnMocks, withOwnMocks } from '../../../domain/mocks/serving/own-mocks.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { freePort } from '../../support/free-port.ts';
import { idleEngine } from '../../support/launch.ts';
import { mockStage, step } from '../../support/mocks.ts';

const MOCKS_URL = 'http://mocks.test';
let app: TestApp;
beforeAll(async () => {
  const port = String(await freePort());
  const env = { PORT: port, MOCKS_URL, INTERNAL_URL: `http://127.0.0.1:${port}` };
  app = await testApp({ launch: idleEngine, env });
});
afterAll(() => app.close());

test('with an origin of their own, mocks answer there alone', async () => {
  const { armed, get } = mockStage(app);
  const { baseUrl } = await armed('apart', [step('GET', '/a', 1)]);
  expect(baseUrl).toMatch(/^http:\/\/mocks\.test\/mocks\/[\w-]{22}$/);
  for (const host of ['mocks.test', 'MOCKS.test:80', 'mocks.test.'])
    await expect(get('/a', { headers: { host } })).resolves.toMatchObject({ status: 200, text: '1' });
  for (const host of ['quayside.test', 'mocks.test:81', 'localhost', new URL(app.url).host])
    await expect(get('/a', { headers: { host } })).resolves.toMatchObject({ status: 404, json: { code: 'not_found' } });
});

test('the service itself reaches them at its internal address, by their name', async () => {
  const { armed } = mockStage(app);
  const { baseUrl } = await armed('inside', [step('GET', '/b', { ok: true })]);
  const find = findOwnMocks({ publicUrl: 'http://quayside.test', mocksUrl: MOCKS_URL, internalUrl: app.url });
  const http = createHostHttp(withOwnMocks(outboundAddresses(''), find));
  try {
    const answer = await http.exchange('the host', { method: 'GET', url: `${baseUrl}/b`, headers: {} });
    expect(answer).toMatchObject({ isOk: true, value: { json: { ok: true } } });
  } finally {
    await http.close();
  }
});
