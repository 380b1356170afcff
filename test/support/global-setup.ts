import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import pg from 'pg';
import { WORKFLOWS_PATH } from '../../activities/worker.ts';
import { migrate } from '../../domain/migrate.ts';
import { startPostgres } from '../../tools/embedded-postgres.ts';
import { anyFreePort } from '../../tools/ports.ts';
import { startTemporal } from '../../tools/temporal-dev-server.ts';

const QUIET = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** What is left to stop when the run ends. */
export const running = { stop: async () => {} };

/**
 * One PostgreSQL and one Temporal dev server for the whole run. Test files get databases of their own, cloned from a
 * migrated template, and task queues of their own. Addresses go to the workers of Jest by the environment.
 */
export async function startServers(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'quayside-run-'));
  // As root, PostgreSQL runs as another user, who must be able to walk through it.
  chmodSync(folder, 0o755);
  const [postgres, temporal, bundle] = await Promise.all([
    startPostgres({ dataDir: folder, isFast: true }),
    startTemporal({ dataDir: folder, port: await anyFreePort(), uiPort: await anyFreePort(), onProgress: (line) => process.stderr.write(`${line}\n`) }),
    bundleWorkflowCode({ workflowsPath: WORKFLOWS_PATH, logger: QUIET }),
  ]);
  const server = postgres.url.slice(0, postgres.url.lastIndexOf('/'));
  const client = new pg.Client(`${server}/postgres`);
  await client.connect();
  await client.query('create database quayside_template');
  await client.end();
  await migrate(`${server}/quayside_template`);
  const codePath = join(folder, 'workflows.js');
  writeFileSync(codePath, bundle.code);
  process.env.QS_TEST_PG_URL = server;
  process.env.QS_TEST_TEMPORAL_ADDRESS = temporal.address;
  process.env.QS_TEST_BUNDLE = codePath;
  running.stop = async () => {
    await Promise.all([postgres.stop(), temporal.stop()]);
    rmSync(folder, { recursive: true, force: true });
  };
}
