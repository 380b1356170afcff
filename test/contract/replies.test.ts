import { Validator } from '@seriousme/openapi-schema-validator';
import { addressOf, guardedRoutes, makeExamples, mayCall, nameOf } from './examples.ts';
import { routes } from '../../api/routes.ts';
import { type MailServer, mailServer } from '../simulators/mail-server.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { startWorker, type TestWorker } from '../support/worker.ts';

let app: TestApp;
let mail: MailServer;
/** Gives the answers for which requests wait. */
let worker: TestWorker;
beforeAll(async () => {
  mail = await mailServer();
  app = await testApp({ env: { SMTP_URL: mail.url } });
  worker = await startWorker(app, ['environment-locks-v1', 'releases-v1']);
});
afterAll(async () => {
  await worker.kill('SIGTERM');
  await app.close();
  await mail.close();
});

test.each(guardedRoutes.map((route) => [nameOf(route), route] as const))(
  '%s answers its example as it says',
  async (_, route) => {
    const example = await makeExamples(app).of(route);
    const { headers, text } = await app
      .as(mayCall(route, app))
      .request(example.status ?? route.status, route.method.toUpperCase(), addressOf(route, example), {
        body: example.body,
      });
    expect(headers.get('x-request-id')).toBeTruthy();
    expect(headers.get('ratelimit-policy')).toBeTruthy();
    if (route.status === 204) expect(text).toBe('');
    const written = await trailOf(headers.get('x-request-id'));
    const allowed = typeof route.audit === 'string' ? [route.audit] : Array.isArray(route.audit) ? route.audit : [];
    expect(written.filter((action) => !allowed.includes(action))).toEqual([]);
    if (allowed.length > 0) expect(written.length).toBeGreaterThan(0);
  },
);

const trailOf = async (requestId: string | null): Promise<string[]> => {
  const rows = await app.sql<{ action: string }>(
    'select action from audit_entry where request_id = ? order by sequence',
    [requestId],
  );
  return rows.map(({ action }) => action);
};

test('the reference is a valid OpenAPI 3.1 document', async () => {
  const document = await app.as().get(200, '/openapi.json');
  const { valid, errors } = await new Validator().validate(document);
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
});

test('every operation has a unique name in camel case', () => {
  const operationIds = routes.map(({ operationId }) => operationId);
  expect(operationIds.filter((id) => !/^(?!post|put)[a-z]+([A-Z][a-z]+)+$/.test(id))).toEqual([]);
  expect(operationIds.filter((id, index) => operationIds.indexOf(id) !== index)).toEqual([]);
});

test('every route has a summary, and everything that mutates says what it writes to the trail', async () => {
  for (const route of guardedRoutes) {
    expect(route.summary.length).toBeGreaterThan(5);
    if (route.method !== 'get') expect(route.audit).toBeDefined();
  }
});

test('the browsable reference is served without outside assets', async () => {
  const { text, headers } = await app.as().request(200, 'GET', '/docs');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  const assets = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? '');
  expect(assets.length).toBeGreaterThan(2);
  for (const address of assets) {
    expect(address).toMatch(/^\//);
    await app.as().request(200, 'GET', address);
  }
});
