import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { loggingTo } from '../../../../domain/process-log.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { freePort } from '../../../support/free-port.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const directory = mkdtempSync(join(tmpdir(), 'quayside-store-outage-'));
let port: number;
let store: S3rver;
let app: TestApp;
let running: TestWorker | undefined;

/** The same store again, with what it held. */
async function startStore(): Promise<void> {
  store = new S3rver({
    port,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: [{ name: 'files', configs: [] }],
  });
  await store.run();
}

/** What a process logs. */
function logged() {
  const lines: { level: number; msg: string }[] = [];
  const log = loggingTo({ write: (line: string) => void lines.push(JSON.parse(line)) }, { level: 'info' });
  return {
    log,
    warnings: () => lines.filter(({ level }) => level >= 40).map(({ msg }) => msg),
    until: (what: string) =>
      eventually(
        async () => lines,
        (all) => all.some(({ msg }) => msg.includes(what)),
      ),
  };
}
const [api, worker] = [logged(), logged()];

beforeAll(async () => {
  port = await freePort();
  await startStore();
  // What the server of the package takes as its only account.
  process.env.AWS_ACCESS_KEY_ID = 'S3RVER';
  process.env.AWS_SECRET_ACCESS_KEY = 'S3RVER';
  const OBJECT_STORE_URL = `s3://files/quayside?endpoint=http://127.0.0.1:${port}`;
  app = await testApp({ env: { OBJECT_STORE_URL }, processLog: api.log });
});
afterAll(async () => {
  await running?.stop();
  await app?.close();
  await store.close().catch(() => undefined);
  rmSync(directory, { recursive: true });
});

test('while the object store is away files are 503 and exports wait, and each process says once that it went and came back', async () => {
  const owner = app.as(app.owner);
  running = await startWorker(app, ['audit-v1'], worker.log);
  const asked = async (): Promise<string> => (await owner.post(202, '/api/audit/exports', { format: 'csv' })).id;
  const reached = (id: string, wanted: string): Promise<Json> =>
    eventually(
      () => owner.get(200, `/api/audit/exports/${id}`),
      ({ status }) => status === wanted,
    );
  const readiness = async () => (await fetch(`${app.url}/readyz`)).json() as Promise<Json>;
  const before = await asked();
  await reached(before, 'completed');

  await store.close();
  const download = `/api/audit/exports/${before}/download`;
  for (let n = 0; n < 2; n++) {
    const { headers, body } = await owner.request(503, 'GET', download);
    expect(headers.get('retry-after')).toBe('5');
    expect(body).toMatchObject({ code: 'unavailable', detail: expect.stringContaining('store of files') });
  }
  await expect(readiness()).resolves.toMatchObject({ status: 'degraded', dependencies: { objects: 'down' } });
  const meanwhile = await asked();
  await Promise.all([api.until('does not answer'), worker.until('does not answer')]);
  await reached(meanwhile, 'running');

  await startStore();
  await reached(meanwhile, 'completed');
  const { text } = await owner.request(200, 'GET', download);
  expect(text).toContain('sequence');
  await Promise.all([api.until('answers again'), worker.until('answers again')]);
  await expect(readiness()).resolves.toMatchObject({ dependencies: { objects: 'up' } });
  const outage = [
    'The object store does not answer: files cannot be stored or read, and exports wait',
    'The object store answers again',
  ];
  expect(api.warnings()).toEqual(outage);
  expect(worker.warnings()).toEqual(outage);
});
