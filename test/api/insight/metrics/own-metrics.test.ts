import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { createWindowSender } from '../../../../activities/insight/metrics/window-sender.ts';
import { createIngest } from '../../../../domain/insight/metrics/ingest.mutations.ts';
import type { MetricsStore } from '../../../../domain/insight/metrics/metrics-store.port.ts';
import { AI_CALL_ENDED, leadTimeMetric, ownMetricsOf } from '../../../../domain/insight/metrics/own-metric-rules.ts';
import { createOwnMetrics } from '../../../../domain/insight/metrics/own-metrics.ts';
import { createWindowStore } from '../../../../domain/insight/metrics/window-store.queries.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import { catalogEntries } from '../../../../domain/events/webhooks/event-catalog.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { insertCommits } from '../../../support/factories.ts';
import { cutRelease, success } from '../../../support/releases.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
let worker: TestWorker;
beforeAll(async () => {
  app = await testApp({ hasOwnTenants: true });
  worker = await startWorker(app, ['releases-v1']);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
});

const windowsOf = (name: string) =>
  app.sql<{ labels: Record<string, string>; count: number; sum: number }>(
    `select s.labels, sum(w.count) as count, sum(w.sum) as sum from metric_window w
     join metric_series s using (tenant_id, series) where s.name = ? group by s.labels`,
    [name],
  );

test('deployments and their lead times are metrics of the tenant', async () => {
  const owner = app.as(app.owner);
  const repositoryIdentifier = 'acme/shop';
  const { id } = await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    remoteUrl: 'https://github.com/acme/shop.git',
    platform: 'host-a',
    defaultBranch: 'main',
  });
  await owner.post(201, '/api/environments', { repositoryIdentifier, name: 'uat', category: 'release' });
  await app.sql('delete from git_mirror');
  const [first = '', second = ''] = await insertCommits(app, id, 2);
  const deploy = async (releaseName: string, commitSha: string, artifacts: object, deployedAt: number) => {
    await cutRelease(app, repositoryIdentifier, releaseName, { commitSha, value: { artifacts } });
    const report = success(repositoryIdentifier, releaseName, 'uat', {
      deployedAt: new Date(deployedAt).toISOString(),
    });
    await app.as(app.application).post(200, '/api/release-candidates/release-event', report);
  };
  const now = Date.now();
  await deploy('r1', first, { app: '1', lib: '1' }, now - 120_000);
  await deploy('r2', second, { app: '2', lib: '1' }, now - 60_000);
  const labels = { repository: repositoryIdentifier, domain: 'core', environment: 'uat' };
  const leadTimes = await eventually(
    () => windowsOf('quayside_deployment_lead_time'),
    (rows) => rows.length > 0,
  );
  const [commit] = await app.sql<{ at: string }>('select committed_at as at from git_commit where sha = ?', [second]);
  // Only the version that the deployment before had not.
  expect(leadTimes).toEqual([{ labels, count: 1, sum: now - 60_000 - Date.parse(commit?.at ?? '') }]);

  // A hotfix leaves what it does not carry as it was, so that the release after it brings nothing but its own.
  await deploy('hotfix', second, { app: '3' }, now - 50_000);
  await deploy('r3', second, { app: '3', lib: '1' }, now - 40_000);
  await deploy('r4', second, { app: '4', lib: '1' }, now - 30_000);
  const later = await eventually(
    () => windowsOf('quayside_deployment_lead_time'),
    ([row]) => Number(row?.count) >= 3,
  );
  expect(later).toMatchObject([{ labels, count: 3 }]);
  expect(await windowsOf('quayside_deployments')).toEqual([
    { labels: { ...labels, status: 'Success' }, count: 5, sum: 5 },
  ]);
});

test('own metrics are no series too many, and what of them is rejected is logged', async () => {
  const logged: { rejected?: number; errors?: { detail: string }[] }[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(JSON.parse(line) as object) });
  const intake = createIngest({ seriesPerDay: 0, bufferRows: 1_000 });
  const activities = activityDeps(app);
  const { actingAs, now } = activities.deps;
  const own = createOwnMetrics({ intake, actingAs, signalLane: () => undefined, now, log });
  const deployment = (environmentName: string, deployedAt: Date) => ({
    event: 'deployment.failed',
    data: {
      repositoryIdentifier: 'acme/shop',
      environmentName,
      status: 'Failed',
      deployedAt: deployedAt.toISOString(),
    },
  });
  own.measure(app.tenantKey, [
    deployment('own-now', new Date()),
    deployment('own-old', new Date(Date.now() - 3 * 86_400_000)),
  ]);
  await own.settled();
  const series = await app.sql<{ environment: string }>(
    `select labels->>'environment' as environment from metric_series where labels->>'environment' like 'own-%'`,
  );
  expect(series).toEqual([{ environment: 'own-now' }]);
  expect(await app.sql(`select sum(created)::int as created from metric_series_day`)).toEqual([{ created: 0 }]);
  expect(logged).toMatchObject([{ rejected: 1, errors: [{ detail: 'is older than 48 hours' }] }]);
  const refused = await intake.ingest(actingAs(systemActor(app.tenantKey, 'metrics')), app.tenant.id, [
    { metric: 'theirs', type: 'count' },
  ]);
  expect(refused).toMatchObject({ accepted: 0, rejected: 1 });
  await activities.close();
});

interface Target {
  refId: string;
  expr: string;
  instant?: boolean;
  datasource: { uid: string };
}
interface Panel {
  id: number;
  type: string;
  title: string;
  datasource: { uid: string };
  gridPos: { x: number; y: number; w: number; h: number };
  targets: Target[];
}
interface Dashboard {
  uid: string;
  title: string;
  schemaVersion: number;
  templating: { list: { name: string; type: string; query: unknown }[] };
  panels: Panel[];
}

const { uid, title, schemaVersion, templating, panels } = JSON.parse(
  readFileSync('docs/grafana/quayside.json', 'utf8'),
) as Dashboard;

test('the dashboard for Grafana can be imported, and asks the data source that is chosen', () => {
  expect(title).not.toBe('');
  expect(uid).toMatch(/^[\w-]{1,40}$/);
  expect(schemaVersion).toBeGreaterThanOrEqual(36);
  expect(templating.list[0]).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' });
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = new Set<string>();
  for (const { type, datasource, gridPos, targets } of panels) {
    expect(['stat', 'timeseries']).toContain(type);
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect(cells).not.toContain(`${x} ${y}`);
        cells.add(`${x} ${y}`);
      }
    expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    expect([datasource, ...targets.map((target) => target.datasource)].map((source) => source.uid)).toEqual(
      Array(targets.length + 1).fill('${datasource}'),
    );
  }
});

describe('what the dashboard asks', () => {
  const V1 = '/api/metrics/api/v1';
  const now = Date.now();
  const written = (expr: string) =>
    expr.replaceAll('$repository', 'acme/.*').replaceAll('$__range', '1h').replaceAll('$__interval', '5m');

  beforeAll(async () => {
    const happened = [
      ...catalogEntries.map(({ event, sample: { data } }) => ({ event, data: { ...(data as object), ...RECENT } })),
      { event: 'deployment.failed', data: { ...RECENT, status: 'Failed' } },
      { event: AI_CALL_ENDED, data: { ...RECENT, provider: 'openai', model: 'm', input: 7, output: 3, cost: 0.5 } },
    ];
    const deployment = { event: 'deployment.completed', data: RECENT };
    const activities = activityDeps(app);
    const { actingAs, system, metricsStore, log } = activities.deps;
    const intake = createIngest({ seriesPerDay: 0, bufferRows: 1_000 });
    const { rejected } = await intake.ingestOwn(actingAs(systemActor(app.tenantKey, 'metrics')), app.tenant.id, [
      ...happened.flatMap((one) => ownMetricsOf(one, now)),
      leadTimeMetric(deployment, 60_000, now),
    ]);
    expect(rejected).toBe(0);
    const store = metricsStore as MetricsStore;
    const sender = createWindowSender({ windows: createWindowStore(system), store, log });
    while ((await sender.send()).sent > 0);
    await fetch(`${process.env.QS_TEST_METRICS_URL}/internal/force_flush`);
    await activities.close();
  });
  const RECENT = {
    repositoryIdentifier: 'acme/shop',
    environmentName: 'uat',
    branch: 'main',
    deployedAt: new Date(now).toISOString(),
    endedAt: new Date(now).toISOString(),
  };

  test.each(
    panels.flatMap((panel) => panel.targets.map((target) => [`${panel.title} ${target.refId}`, target] as const)),
  )('%s has an answer', async (_, { expr, instant }) => {
    const query = written(expr);
    expect(query).not.toContain('$');
    const end = Math.ceil(now / 1_000) + 1;
    const path = instant
      ? `query?${String(new URLSearchParams({ query, time: String(end) }))}`
      : `query_range?${String(new URLSearchParams({ query, start: String(end - 3_600), end: String(end), step: '300' }))}`;
    const { data } = await app.as(app.owner).get(200, `${V1}/${path}`);
    expect(data.result).not.toEqual([]);
  });

  test('the list of repositories is those that have flows', async () => {
    const { query } = (templating.list[1] as (typeof templating.list)[number]).query as { query: string };
    const [, metric, label] = /^label_values\((\w+), (\w+)\)$/.exec(query) as unknown as string[];
    const match = String(new URLSearchParams({ 'match[]': metric ?? '' }));
    expect((await app.as(app.owner).get(200, `${V1}/label/${label}/values?${match}`)).data).toEqual(['acme/shop']);
  });
});
