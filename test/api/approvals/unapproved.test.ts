import { type TestApp, testApp } from '../../support/app.ts';
import type { Json } from '../../support/client.ts';
import { insertApproval, insertRun } from '../../support/factories.ts';
import { idleEngine } from '../../support/launch.ts';
import { cutRelease, success } from '../../support/releases.ts';

const repositoryIdentifier = 'acme/shop';
let app: TestApp;
let runId: string;

const deployed = (releaseName: string, environmentName: string, more: object = {}): Promise<Json> =>
  app
    .as(app.application)
    .post(
      202,
      '/api/release-candidates/release-event',
      success(repositoryIdentifier, releaseName, environmentName, more),
    );

beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  for (const [name, category] of [
    ['prod', 'release'],
    ['dev', 'dev'],
  ])
    await owner.post(201, '/api/environments', { repositoryIdentifier, name, category });
  const [prod] = await app.sql<{ id: string }>(`select id from environment where name = 'prod'`);
  for (const name of ['approved', 'late', 'elsewhere', 'never', 'again'])
    await cutRelease(app, repositoryIdentifier, name);
  const given = (releaseName: string, resolvedAt: Date) => ({
    repositoryIdentifier,
    domain: 'core',
    releaseName,
    environmentId: prod?.id ?? '',
    environmentName: 'prod',
    status: 'approved' as const,
    resolvedBy: app.owner.email,
    resolvedAt,
  });
  const run = { repositoryIdentifier, requestedBy: app.member.email, domain: 'core', environmentId: prod?.id ?? '' };
  runId = await insertRun(app, { ...run, releaseName: 'never', status: 'running', displayStatus: 'Running' });
  for (const [name, at] of [
    ['approved', Date.now() - 60_000],
    ['late', Date.now() + 3_600_000],
  ] as const)
    await insertApproval(
      app,
      { runId: await insertRun(app, { ...run, releaseName: name }), ...given(name, new Date(at)) },
      { domain: 'core', releaseName: name, environmentName: 'prod', occurredAt: '2026-01-01T00:00:00Z' },
    );
  await deployed('approved', 'prod', { deployedAt: '2026-02-01T00:00:00Z' });
  await deployed('late', 'prod', { deployedAt: '2026-02-02T00:00:00Z', deploymentStatus: 'Failed' });
  await deployed('elsewhere', 'prod', { deployedAt: '2026-02-03T00:00:00Z', approval: { status: 'approved' } });
  await deployed('never', 'prod', { deployedAt: '2026-02-04T00:00:00Z', executionId: runId });
  await deployed('again', 'prod', { deployedAt: '2026-02-05T00:00:00Z', executionId: 'pipeline-7' });
  await deployed('again', 'prod', { deployedAt: '2026-02-06T00:00:00Z', deploymentStatus: 'Cancelled' });
  await deployed('again', 'dev', { deployedAt: '2026-02-07T00:00:00Z' });
  await app.sql(
    `update flow_run set override = '{"reason":"outage","by":"o@x.example","at":"2026-02-01T00:00:00.000Z"}' where id = ?`,
    [runId],
  );
});
afterAll(() => app.close());

const path = (query: string) => `/api/flows/approvals/compliance?repositoryIdentifier=${repositoryIdentifier}${query}`;
const report = (query: string): Promise<Json> => app.as(app.member).get(200, path(query));
const shown = async (query: string): Promise<string[]> =>
  (await report(query)).items.map(({ status, releaseName }: Json) => `${releaseName} ${status}`);

const UNAPPROVED = ['again not_requested', 'never not_requested', 'late not_requested'];
const STEPS = ['late approved', 'approved approved'];

test('deployments to release environments that nobody approved are rows of their own, on request', async () => {
  expect(await shown('')).toEqual(STEPS);
  const { items, total } = await report('&includeUnapproved=true');
  expect(items.map(({ status, releaseName }: Json) => `${releaseName} ${status}`)).toEqual([...UNAPPROVED, ...STEPS]);
  expect(total).toBe(5);
  expect(items[0]).toEqual({
    id: expect.any(String),
    approvalId: null,
    executionId: 'pipeline-7',
    taskType: 'release-event',
    repositoryIdentifier,
    environment: 'prod',
    domain: 'core',
    releaseName: 'again',
    status: 'not_requested',
    requestedBy: 'app:ci',
    requestedAt: '2026-02-05T00:00:00.000Z',
    resolvedBy: null,
    resolvedAt: null,
    responseTimeMs: null,
    approvers: [],
    comment: null,
    source: 'report',
    override: null,
  });
  expect(items[1]).toMatchObject({
    executionId: runId,
    taskType: 'execute-release',
    requestedBy: app.member.email,
    source: 'run',
    override: { reason: 'outage', by: 'o@x.example' },
  });
});

test.each([
  ['&includeUnapproved=true&limit=2&offset=2', ['late not_requested', 'late approved']],
  ['&includeUnapproved=true&status=approved', STEPS],
  ['&status=not_requested', UNAPPROVED],
  ['&includeUnapproved=true&taskType=release-event', ['again not_requested', 'late not_requested']],
  ['&includeUnapproved=true&requestedBy=APP:ci', ['again not_requested', 'late not_requested']],
  ['&includeUnapproved=true&resolvedBy=owner@acme.example', STEPS],
  ['&includeUnapproved=true&from=2026-02-03&to=2026-02-05', ['never not_requested']],
  ['&includeUnapproved=true&environment=dev', []],
])('the filter %s', async (query, expected) => expect(await shown(query)).toEqual(expected));

test('the CSV has them, too', async () => {
  const { text } = await app.as(app.owner).request(200, 'GET', path('&format=csv&includeUnapproved=true'));
  const lines = text.trimEnd().split('\r\n');
  expect(lines).toHaveLength(6);
  expect(lines[2]).toMatch(/,not_requested,.*,run,o@x.example: outage$/);
});
