import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../../domain/migrate.ts';
import { type RunningPostgres, startPostgres } from '../../../tools/embedded-postgres.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { eventually } from '../../support/worker.ts';

const WRITERS = 8;

let dataDir: string;
let postgres: RunningPostgres;
let app: TestApp;
let creating: ReturnType<typeof keepCreating> | undefined;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'quayside-database-'));
  postgres = await startPostgres({ dataDir });
  await migrate(postgres.url);
  app = await testApp({ databaseUrl: postgres.url });
});
afterAll(async () => {
  await creating?.stop();
  await app.close();
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Creates projects without a pause until told to stop; answers each identifier with its status. */
function keepCreating() {
  const answers: { identifier: string; status: number; retryAfter: string | null }[] = [];
  const over = new AbortController();
  const writer = async (name: string) => {
    for (let n = 0; !over.signal.aborted; n++) {
      const identifier = `${name}/p${n}`;
      const body = { identifier, platform: 'host-a' };
      const { status, headers } = await app.as(app.owner).send('POST', '/api/projects', { body });
      answers.push({ identifier, status, retryAfter: headers.get('retry-after') });
    }
  };
  const writing = Array.from({ length: WRITERS }, (_, n) => writer(`w${n}`));
  return {
    answers,
    async stop() {
      over.abort();
      await Promise.all(writing);
    },
  };
}

const readiness = () => app.as().send('GET', '/readyz');

test('the database is restarted under load: 503 meanwhile, then all goes on, and nothing is half written', async () => {
  await expect(readiness()).resolves.toMatchObject({
    status: 200,
    body: { status: 'ready', dependencies: { postgresql: 'up' } },
  });
  creating = keepCreating();
  const { answers } = creating;
  await eventually(
    async () => answers.length,
    (count) => count > 50,
  );
  await postgres.stop();
  const unready = await eventually(readiness, ({ status }) => status === 503);
  expect(unready.body).toMatchObject({ status: 'not ready', dependencies: { postgresql: 'down' } });
  await expect(app.as().send('GET', '/healthz')).resolves.toMatchObject({ status: 200 });
  await eventually(
    async () => answers.filter(({ status }) => status === 503).length,
    (count) => count > WRITERS,
  );

  postgres = await startPostgres({ dataDir, port: postgres.port });
  await eventually(readiness, ({ status }) => status === 200);
  const before = answers.length;
  await eventually(
    async () => answers.slice(before).filter(({ status }) => status === 201).length,
    (count) => count > 50,
  );
  await creating.stop();

  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused.filter(({ status, retryAfter }) => status !== 503 || retryAfter === null)).toEqual([]);
  const rows = await app.sql<{ identifier: string }>('select identifier from project');
  const stored = new Set(rows.map(({ identifier }) => identifier));
  expect(answers.filter(({ identifier, status }) => status === 201 && !stored.has(identifier))).toEqual([]);
  const trail = await app.sql<{ identifier: string }>(
    `select repository_identifier as identifier from audit_entry where action = 'project.created'`,
  );
  expect(trail.map(({ identifier }) => identifier).toSorted()).toEqual([...stored].toSorted());
});
