import { type TestApp, testApp } from '../../support/app.ts';
import { idleEngine } from '../../support/launch.ts';
import { mockStage, step } from '../../support/mocks.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine, env: { MOCKS_URL: 'http://mocks.test' } });
});
afterAll(() => app.close());

test('with an origin of their own, mocks answer there alone', async () => {
  const { armed, get } = mockStage(app);
  const { baseUrl } = await armed('apart', [step('GET', '/a', 1)]);
  expect(baseUrl).toMatch(/^http:\/\/mocks\.test\/mocks\/[\w-]{22}$/);
  for (const host of ['mocks.test', 'MOCKS.test:80'])
    await expect(get('/a', { headers: { host } })).resolves.toMatchObject({ status: 200, text: '1' });
  for (const host of ['quayside.test', 'mocks.test:81', 'localhost'])
    await expect(get('/a', { headers: { host } })).resolves.toMatchObject({ status: 404, json: { code: 'not_found' } });
});
