import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../support/free-port.ts';
import { type RunningTemporal, startTemporal } from '../../../../tools/temporal-dev-server.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
let worker: TestWorker;
let temporal: RunningTemporal;
const folder = mkdtempSync(join(tmpdir(), 'quayside-engine-returns-'));
let start: () => Promise<RunningTemporal>;

beforeAll(async () => {
  const [port, uiPort] = [await freePort(), await freePort()];
  start = () => startTemporal({ dataDir: folder, port, uiPort });
  temporal = await start();
  app = await testApp({ env: { TEMPORAL_ADDRESS: temporal.address, SERVICE_PACE: '0.1' } });
  worker = await startWorker(app, ['releases-v1', 'system-v1']);
});
afterAll(async () => {
  await worker.stop();
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
  // Nobody waits any more for the first event, and clients still try to hand on the last ones.
  const [givenUp] = await Promise.all([report('away-first'), reportedMeanwhile()]);
  expect(givenUp).toBe(202);
  const returning = start();
  reports.push(report('returning'));
  temporal = await returning;
  expect((await Promise.all(reports)).filter((status) => ![200, 202].includes(status))).toEqual([]);
  await eventually(
    () => app.sql('select id from release_deployment where applied_at is null'),
    (rows) => rows.length === 0,
  );
  let asked = 0;
  await eventually(
    () => report(`back-${asked++}`),
    (status) => status === 200,
  );

  async function reportedMeanwhile(): Promise<void> {
    for (let count = 0; count < 4; count++) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      reports.push(report(`away-${count}`));
    }
  }
});
