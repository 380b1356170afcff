import { type TestApp, testApp } from '../../support/app.ts';
import type { Json } from '../../support/client.ts';
import { freePort } from '../../support/free-port.ts';
import { idleEngine } from '../../support/launch.ts';
import { mockStage } from '../../support/mocks.ts';
import { crmSimulator } from '../../simulators/crm-org/simulator.ts';

let app: TestApp;

beforeAll(async () => {
  const port = await freePort();
  app = await testApp({
    launch: idleEngine,
    env: { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` },
  });
});
afterAll(() => app.close());

test('records orgs whose hosts are several, and replays them when none of the hosts is there', async () => {
  const crm = await crmSimulator();
  const { made, member, path } = mockStage(app);
  const owner = app.as(app.owner);
  const [production, sandbox] = [crm.org('acme'), crm.org('acme-uat')];
  const { baseUrl } = await made({
    name: 'orgs',
    upstream: production.url,
    upstreams: [{ prefix: '/uat', upstream: sandbox.url }],
  });
  const cliAuthUrl = production.authUrl.replace(/@.*/, `@${baseUrl.replace('http://', '')}`);
  const register = async (): Promise<Json[]> => {
    const first = await owner.post(201, '/api/auth/crm/register', { cliAuthUrl, isDevHub: true });
    const second = await owner.post(201, '/api/auth/crm/register-sandbox-by-name', {
      sandboxName: 'uat',
      productionUsername: production.username,
    });
    await owner.post(200, `/api/auth/crm/test-connection?${new URLSearchParams({ username: sandbox.username })}`);
    return [first, second];
  };
  const remove = async () => {
    for (const { username } of [sandbox, production])
      await owner.delete(204, `/api/auth/crm/org?${new URLSearchParams({ username })}`);
  };
  const recorded = await register();
  expect(recorded).toMatchObject([
    { username: production.username, instanceUrl: baseUrl },
    { username: sandbox.username, instanceUrl: `${baseUrl}/uat` },
  ]);
  await remove();
  await member.post(200, path('orgs', '/stop'));
  await crm.close();
  const scenario = JSON.stringify(await member.get(200, path('orgs')));
  for (const secret of crm.secrets) expect(scenario).not.toContain(secret);

  await member.post(200, path('orgs', '/arm'));
  const replayed = await register();
  expect(replayed).toMatchObject(recorded.map(({ username, instanceUrl }) => ({ username, instanceUrl })));
  const { unmatched, steps } = await member.get(200, path('orgs', '/report'));
  expect(unmatched).toEqual([]);
  // The version of an org's interface is known for a day.
  expect(steps.unused.map((step: Json) => step.path)).toEqual(['/services/data', '/uat/services/data']);
  await remove();
});

test('an export has the hosts, and an import takes them', async () => {
  const { root, member, path } = mockStage(app);
  const upstreams = [{ prefix: '/uat', upstream: 'http://127.0.0.1:9/uat' }];
  await member.post(201, root, { name: 'first', upstream: 'http://127.0.0.1:9', upstreams, steps: [] });
  const exported = async (name: string) => (await member.request(200, 'GET', path(name, '/export.yaml'))).text;
  const content = await exported('first');
  await member.post(201, `${root}/import`, { name: 'second', format: 'yaml', content });
  await expect(member.get(200, path('second'))).resolves.toMatchObject({ upstreams });
  await expect(exported('second')).resolves.toBe(content);
  await member.post(400, root, { name: 'inner', upstreams: [{ prefix: '/x', upstream: 'http://169.254.169.254' }] });
});
