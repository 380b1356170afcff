import { newId } from '../../../../domain/kernel/shared/ids.ts';
import type { ApiClient } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { insertWebhook } from '../../../support/factories.ts';
import { idleEngine } from '../../../support/launch.ts';

let app: TestApp;
let one: ApiClient;
/** Things of the other project. */
let run: string;
let environment: string;
let candidate: string;
let schedule: string;
const webhooks: Record<string, string> = {};

const payload = (repositoryIdentifier: string) => ({
  payload: { id: 'execute-release', repositoryIdentifier, environmentName: 'uat', domain: 'core', releaseName: 'r1' },
});

beforeAll(async () => {
  app = await testApp({ launch: idleEngine, commands: ['execute-release', 'build'] });
  const owner = app.as(app.owner);
  for (const identifier of ['acme/one', 'acme/two']) {
    await owner.post(201, '/api/projects', { identifier, platform: 'host-a' });
    webhooks[identifier] = await insertWebhook(app, { repositoryIdentifier: identifier });
    const added = { repositoryIdentifier: identifier, name: 'uat', category: 'test' };
    environment = (await owner.post(201, '/api/environments', added)).id;
    const release = {
      domain: 'core',
      releaseName: 'r1',
      commitSha: 'a'.repeat(40),
      value: { artifacts: { a: '1.0.0' } },
    };
    candidate = (await owner.post(201, '/api/release-candidates', { repositoryIdentifier: identifier, ...release })).id;
  }
  webhooks.tenant = await insertWebhook(app, { event: 'release_candidate.created' });
  run = (await owner.post(202, '/api/flows/run', payload('acme/two'))).id;
  const times = { cron: '0 3 * * *', timezone: 'UTC' };
  schedule = (await owner.post(201, '/api/flows/schedules', { name: 'two', ...times, ...payload('acme/two') })).id;
  one = app.as(await owner.post(201, '/api/application-tokens', { name: 'one', projects: ['acme/one'] }));
});
afterAll(() => app.close());

test('what covers the whole tenant is refused with a reason', async () => {
  const path = `/api/users/${app.owner.email}`;
  for (const [method, address, body] of [
    ['GET', '/api/users'],
    ['GET', `/api/users?lookup=email&id=${app.owner.email}`],
    ['GET', path],
    ['PUT', path, { firstName: 'Mallory' }],
    ['GET', '/api/teams'],
    ['POST', '/api/users/me/password', { currentPassword: 'a', newPassword: 'b' }],
    ['POST', '/api/webhooks/trigger', { event: 'push', payload: {} }],
    ['GET', `/api/audit/internal/exports/${newId()}/rows`],
    ['POST', '/api/audit/internal/exports/cleanup', {}],
  ] as const) {
    const { body: problem } = await one.request(403, method, address, { body });
    expect(problem.detail).toMatch(/limited to projects/);
  }
  await expect(one.get(200, '/api/users/me')).resolves.toMatchObject({ email: 'app:one', teams: [] });
  await one.get(200, '/api/webhooks/event-catalog');
  await one.get(200, '/api/flows/types');
});

test('runs of other projects are neither seen nor moved, and a run needs a project', async () => {
  await one.get(404, `/api/flows/runs/${run}`);
  await one.get(404, `/api/flows/runs/${run}/output`);
  await one.post(404, `/api/flows/runs/${run}/cancel`);
  await one.post(404, `/api/flows/runs/${run}/rerun`);
  await one.post(400, '/api/flows/run', payload('acme/two'));
  await one.post(400, '/api/flows/run', {
    payload: { ...payload('acme/one').payload, environmentName: undefined, environmentId: environment },
  });
  const { detail } = await one.post(403, '/api/flows/run', { payload: { id: 'build' } });
  expect(detail).toMatch(/limited to projects/);
  const weekly = { name: 'of-the-tenant', cron: '0 3 * * 1', timezone: 'UTC', payload: { id: 'build' } };
  await one.post(403, '/api/flows/schedules', weekly);
  await expect(one.get(200, '/api/flows/runs')).resolves.toMatchObject({ totalCount: 0, runs: [] });
  await expect(one.get(200, '/api/flows/health')).resolves.toMatchObject({ waiting: 0, running: 0 });
});

test('children, reports and checks of foreign runs are unknown', async () => {
  const own = (await one.post(202, '/api/flows/run', payload('acme/one'))).id;
  const child = { taskType: 'build', flowPath: 'flows/build', repositoryIdentifier: 'acme/one' };
  const internal = '/api/flows/internal';
  await one.post(404, `${internal}/register-child`, { parentTaskExecutionId: run, ...child });
  await one.post(400, `${internal}/register-child`, {
    parentTaskExecutionId: own,
    ...child,
    repositoryIdentifier: 'acme/two',
  });
  const report = { reportingExecutionId: run, domainName: 'core', status: 'succeeded' };
  await one.post(404, `${internal}/${own}/reconcile-check`, report);
  await one.post(404, `${internal}/${run}/reconcile-check`, { ...report, reportingExecutionId: own });
  await one.post(404, `${internal}/${run}/reconcile-build-check`, {});
  await one.post(404, `${internal}/${run}/callback`, { event: 'completed' });
  await one.patch(404, `${internal}/${run}/metadata`, { result: { a: 1 } });
  await one.post(400, `${internal}/track-lock-run`, { executionId: run, lockKey: 'a' });
  const results = { domainResults: [{ domainName: 'core', status: 'succeeded' }] };
  await one.post(404, `${internal}/${run}/render-validation-check`, results);
  await one.post(404, `${internal}/approvals/${run}/expire`);
});

test('schedules, candidates, environments and locks of other projects are unknown', async () => {
  await expect(one.get(200, '/api/flows/schedules').then(JSON.stringify)).resolves.not.toContain(schedule);
  await one.delete(404, `/api/flows/schedules/${schedule}`);
  await one.get(404, `/api/environments/${environment}`);
  await one.post(404, `/api/environments/${environment}/locks`, {});
  await one.get(404, `/api/environments/${environment}/locks`);
  await one.get(404, `/api/release-candidates/${candidate}`);
  await one.patch(404, `/api/release-candidates/${candidate}/status`, { status: 'aborted' });
  await one.delete(404, `/api/release-candidates/${candidate}`);
  const { items = [] } = await one.get(200, '/api/release-candidates?repositoryIdentifier=acme/one');
  const [own] = items as { id: string }[];
  const comparison = await one.send('POST', `/api/release-candidates/${own?.id ?? candidate}/compare`, {
    body: { environmentId: environment },
  });
  expect([400, 404]).toContain(comparison.status);
  const moved = { repositoryIdentifier: 'acme/two', domain: 'core', releaseName: 'r1' };
  await one.post(400, '/api/release-candidates', { ...moved, commitSha: 'b'.repeat(40), value: {} });
  await one.patch(400, '/api/release-candidates/status-by-name', { ...moved, status: 'aborted' });
  await one.get(400, `/api/release-candidates/by-commit/${'a'.repeat(40)}?repositoryIdentifier=acme/two`);
  await expect(
    one
      .get(200, `/api/release-candidates/by-commit/${'a'.repeat(40)}?repositoryIdentifier=acme/one`)
      .then(JSON.stringify),
  ).resolves.not.toContain('acme/two');
});

test('webhooks of other projects and of the tenant are unknown', async () => {
  const deliver = (status: number, webhook = '') =>
    one.post(status, `/api/webhooks/${webhooks[webhook]}/deliver`, { payload: {} });
  await deliver(404, 'acme/two');
  await deliver(404, 'tenant');
  await deliver(202, 'acme/one');
});

test('webhooks of the whole tenant are told what a limited token does', async () => {
  const release = { domain: 'core', releaseName: 'told', commitSha: 'c'.repeat(40), value: {} };
  await one.post(201, '/api/release-candidates', { repositoryIdentifier: 'acme/one', ...release });
  const rows = await app.sql('select 1 from webhook_delivery where webhook_id = ?', [webhooks.tenant]);
  expect(rows).toHaveLength(1);
});

test('an idempotency key of another token answers nothing of it', async () => {
  const body = { repositoryIdentifier: 'acme/two', domain: 'core', releaseName: 'r1' };
  const headers = { 'idempotency-key': 'shared' };
  const first = await app.as(app.application).request(200, 'POST', '/api/release-candidates/find', { body, headers });
  expect(first.text).toContain(candidate);
  const second = await one.send('POST', '/api/release-candidates/find', { body, headers });
  expect(second.headers.get('idempotency-replayed')).toBeNull();
  expect(second.text).not.toContain(candidate);
});

test('a rotated token keeps its limit, and no token makes another', async () => {
  const tokens: { id: string; name: string }[] = await app.as(app.owner).get(200, '/api/application-tokens');
  const id = tokens.find(({ name }) => name === 'one')?.id;
  const rotated = app.as(await app.as(app.owner).post(200, `/api/application-tokens/${id}/rotate`));
  for (const client of [one, rotated]) {
    await client.get(404, `/api/flows/runs/${run}`);
    await client.get(403, '/api/users');
    await client.get(403, '/api/doc-store/collections/catalog');
    await client.post(403, '/api/application-tokens', { name: 'wider' });
    await client.post(403, `/api/application-tokens/${id}/rotate`);
    await client.post(403, '/api/projects', { identifier: 'acme/new', platform: 'host-a' });
  }
});
