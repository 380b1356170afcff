import { once } from 'node:events';
import { request } from 'node:http';
import { otlpCollector } from '../../simulators/otlp-collector.ts';
import { webhookReceiver } from '../../simulators/webhook-receiver.ts';
import { startApi } from '../../support/api-process.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { ApiClient } from '../../support/client.ts';
import { eventually, startWorkerProcess } from '../../support/worker.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

test('without Temporal the API is degraded and goes on accepting', async () => {
  const api = await startApi(app, { TEMPORAL_ADDRESS: '127.0.0.1:1' });
  const client = new ApiClient(api.url, app.owner);
  const { body } = await client.request(200, 'GET', '/readyz');
  expect(body).toMatchObject({ status: 'degraded', dependencies: { postgresql: 'up', temporal: 'down' } });
  await client.get(200, '/healthz');
  await client.get(200, '/api/users/me');
  expect(await api.kill('SIGTERM')).toBe(0);
});

test('told to stop, the API finishes the request under way, takes no other, and ends well', async () => {
  const api = await startApi(app);
  await new ApiClient(api.url).request(200, 'GET', '/readyz');
  const body = JSON.stringify({ identifier: 'acme/under-way', platform: 'host-a' });
  const underWay = request(`${api.url}/api/projects`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${app.owner.token}`,
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    },
  });
  const answered = once(underWay, 'response');
  // It is under way when the API asks for its body.
  const asked = once(underWay, 'continue');
  underWay.flushHeaders();
  await asked;
  underWay.write(body.slice(0, 10));
  const ended = api.kill('SIGTERM');
  await eventually(
    () =>
      fetch(`${api.url}/healthz`).then(
        () => 'open',
        () => 'closed',
      ),
    (state) => state === 'closed',
  );
  underWay.end(body.slice(10));
  const [response] = await answered;
  expect(response.statusCode).toBe(201);
  response.resume();
  expect(await ended).toBe(0);
});

test('a trace leads from the request through the workflow to the webhook that is sent', async () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const collector = await otlpCollector();
  const receiver = await webhookReceiver();
  const telemetry = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const worker = await startWorkerProcess({ ...app, env: { ...app.env, ...telemetry } });
  const api = await startApi(app, telemetry);
  const owner = new ApiClient(api.url, app.owner);
  const repositoryIdentifier = 'acme/traced';
  await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { autoReleaseFinalization: true },
  });
  await owner.post(201, '/api/environments', { repositoryIdentifier, name: 'prod', category: 'release' });
  const name = { repositoryIdentifier, domain: 'core', releaseName: 'r1' };
  await owner.post(201, '/api/release-candidates', { ...name, commitSha: 'abcdef0', value: {} });
  await owner.post(201, '/api/webhooks', { name: 'traced', event: 'release.published', config: { url: receiver.url } });
  const event = { ...name, environmentName: 'prod', deploymentStatus: 'Success' };
  await owner.post(200, '/api/release-candidates/release-event', event, {
    traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
  });

  const [delivery] = await receiver.received(1);
  expect(delivery?.headers.traceparent).toMatch(new RegExp(`^00-${traceId}-`));
  const services = new Set(['quayside-api', 'quayside-worker']);
  const names = ['POST /api/release-candidates/release-event', 'HandleUpdate:applyEvents', 'webhook delivery'];
  const spans = async () => collector.spans().filter((span) => span.traceId === traceId);
  await eventually(spans, (exported) =>
    names.every((each) => exported.some(({ name: spanName }) => spanName === each)),
  );
  expect(new Set((await spans()).map(({ service }) => service))).toEqual(services);
  await Promise.all([api.kill('SIGKILL'), worker.kill('SIGKILL')]);
  await receiver.close();
  await collector.close();
});
