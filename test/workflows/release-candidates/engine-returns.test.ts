import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../support/free-port.ts';
import { type RunningTemporal, startTemporal } from '../../../tools/temporal-dev-server.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { eventually, startWorkerProcess, type TestWorkerProcess } from '../../support/worker.ts';

const AWAY_MS = 40_000;
const APPLIED_WITHIN_MS = 15_000;

let app: TestApp;
let worker: TestWorkerProcess;
let temporal: RunningTemporal;
const folder = mkdtempSync(join(tmpdir(), 'quayside-engine-returns-'));
let start: () => Promise<RunningTemporal>;

beforeAll(async () => {
  const [port, uiPort] = [await freePort(), await freePort()];
  start = () => startTemporal({ dataDir: folder, port, uiPort });
  temporal = await start();
  app = await testApp({ env: { TEMPORAL_ADDRESS: temporal.address } });
  worker = await startWorkerProcess(app, ['releases-v1', 'system-v1']);
}, 60_000);
afterAll(async () => {
  await worker.kill('SIGKILL');
  await app.close();
  await temporal.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('events that were stored while the engine was away are applied soon after its return', async () => {
  const owner = app.as(app.owner);
  const repositoryIdentifier = 'acme/shop';
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  await owner.post(201, '/api/environments', { repositoryIdentifier, name: 'prod', category: 'release' });
  const report = async (domain: string): Promise<number> => {
    const name = { repositoryIdentifier, domain, releaseName: 'r1' };
    await owner.post(201, '/api/release-candidates', { ...name, commitSha: 'abcdef0', value: {} });
    const event = { ...name, environmentName: 'prod', deploymentStatus: 'Success' };
    return (await owner.send('POST', '/api/release-candidates/release-event', { body: event })).status;
  };
  expect(await report('before')).toBe(200);
  temporal.kill();
  await temporal.ended;
  const reports: Promise<number>[] = [];
  // The last of them are given up right before the engine returns, or after that.
  for (const until = Date.now() + AWAY_MS; Date.now() < until; await sleep(1_000))
    reports.push(report(`away-${reports.length}`));
  const returning = start();
  reports.push(report('returning'));
  temporal = await returning;
  const returnedAt = Date.now();
  await eventually(
    () => app.sql('select id from release_deployment where applied_at is null'),
    (rows) => rows.length === 0,
    60_000,
  );
  const tookMs = Date.now() - returnedAt;
  const statuses = await Promise.all(reports);
  expect(statuses.filter((status) => ![200, 202].includes(status))).toEqual([]);
  expect(statuses).toContain(202);
  // Who asks while the engine starts has five seconds.
  expect(statuses.at(-1)).toBe(200);
  expect(tookMs).toBeLessThan(APPLIED_WITHIN_MS);
}, 180_000);
