import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, type WorkflowExecutionInfo } from '@temporalio/client';
import { routes } from '../../api/routes.ts';
import { generateKeys } from '../../domain/kernel/encryption/keys.ts';
import { addressOf, callerOf, makeExamples, optionsOf } from '../contract/examples.ts';
import { mailServer } from '../simulators/mail-server.ts';
import { type TestApp, testApp } from '../support/app.ts';
import type { FirstTenants } from '../support/first-tenants.ts';
import { textOfHistory } from '../support/histories.ts';
import { cutRelease } from '../support/releases.ts';
import { workflowIdOfRun } from '../support/run-key.ts';
import { eventually, startWorker } from '../support/worker.ts';
import { type Access, inOrder, RELEASE_FOLDER, type Row, type Rows, withClient } from './old-release.ts';

/** In which workers come to where they wait. */
const SETTLING_MS = 15_000;

/** Kept by migrations themselves: what was migrated is in the schema's dump. */
const OF_MIGRATIONS = 'schema_migration';

/**
 * Makes what an installation holds after some use (runs that wait for an approval, a window and a lock, and what the
 * examples of all routes make, while a worker deals with it), and writes its rows, its open histories and the test
 * credentials into the folder of the release.
 */
export async function recordRelease(): Promise<void> {
  const mail = await mailServer();
  const keys = generateKeys();
  const app = await testApp({
    env: {
      SMTP_URL: mail.url,
      OUTBOUND_ALLOW: '127.0.0.0/8',
      ENCRYPTION_KEYS: keys.encryptionKeys,
      TOKEN_KEYS: keys.tokenKeys,
    },
    commands: ['analyze', 'build', 'execute-release'],
  });
  // The examples are written for rows that no other worker deals with.
  const answering = await startWorker(app, ['environment-locks-v1', 'releases-v1']);
  await callEveryRoute(app);
  await answering.stop();
  const worker = await startWorker(app);
  await makeWaitingRuns(app);
  await sleep(SETTLING_MS);
  await writeHistories(app);
  await worker.stop();
  const tenants = JSON.parse(process.env.QS_TEST_TENANTS ?? '') as FirstTenants;
  write('access.json', `${JSON.stringify({ tenants, keys } satisfies Access, null, 2)}\n`);
  write('rows.json', textOf(await allRows(app.databaseUrl)));
  await app.close();
  await mail.close();
}

const write = (file: string, text: string): void => writeFileSync(join(RELEASE_FOLDER, file), text);

/** What `upgrade.test.ts` takes on: one run for each thing that a run waits for. */
async function makeWaitingRuns(app: TestApp): Promise<void> {
  const owner = app.as(app.owner);
  const repositoryIdentifier = 'acme/waiting';
  const configuration = { approvalPolicy: { skipApproval: true }, domains: ['core'] };
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', configuration });
  await cutRelease(app, repositoryIdentifier, 'r1');
  const freezes = [{ from: '2020-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z', reason: 'always' }];
  for (const [name, status, more] of [
    ['guarded', 'waiting_approval', { approvalPolicy: { allowSelfApproval: true } }],
    ['frozen', 'waiting_window', { promotion: { freezes } }],
    ['locked', 'waiting_lock', {}],
  ] as const) {
    const environment = { repositoryIdentifier, name, category: 'test', ...more };
    const { id } = await owner.post(201, '/api/environments', environment);
    if (name === 'locked')
      for (const executionId of ['first', 'second'])
        await owner.post(201, `/api/environments/${id}/locks`, { executionId, leaseMinutes: 240 });
    const run = await owner.post(202, '/api/flows/run', {
      payload: {
        id: 'execute-release',
        repositoryIdentifier,
        domain: 'core',
        releaseName: 'r1',
        environmentName: name,
      },
    });
    await eventually(
      () => owner.get(200, `/api/flows/runs/${run.id}`),
      ({ rawStatus }) => rawStatus === status,
    );
  }
}

/** With the password of `access.json` the owner shall sign in. */
const LEFT_OUT: ReadonlySet<string> = new Set(['changePassword']);

/** Some are refused, since another call has changed what they are for. */
async function callEveryRoute(app: TestApp): Promise<void> {
  const examples = makeExamples(app);
  for (const route of routes) {
    if (route.method === 'get' || route.method === 'delete' || LEFT_OUT.has(route.operationId)) continue;
    const example = await examples.of(route);
    const address = addressOf(route, example);
    await app.as(callerOf(route, app)).send(route.method.toUpperCase(), address, optionsOf(example));
  }
}

/** One history of each type of workflow, an open one where there is one, and all of the runs that wait. */
async function writeHistories(app: TestApp): Promise<void> {
  const folder = join(RELEASE_FOLDER, 'histories');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const connection = await Connection.connect({ address: app.env.TEMPORAL_ADDRESS ?? '' });
  try {
    const client = new Client({ connection });
    const found: WorkflowExecutionInfo[] = [];
    for await (const each of client.workflow.list()) if (each.taskQueue.startsWith(app.queuePrefix)) found.push(each);
    const waiting = await waitingRuns(app);
    const kept = new Set<string>();
    for (const { workflowId, runId, type } of found.toSorted(openFirst)) {
      const status = waiting.get(workflowId);
      const name = status === undefined ? type : `${type}-${status}`;
      if (kept.has(name)) continue;
      const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      if (!history.events?.some(({ workflowTaskCompletedEventAttributes: task }) => task)) continue;
      kept.add(name);
      write(`histories/${name}.json`, textOfHistory(history));
    }
  } finally {
    await connection.close();
  }
}

const openFirst = (a: WorkflowExecutionInfo, b: WorkflowExecutionInfo): number =>
  Number(b.status.name === 'RUNNING') - Number(a.status.name === 'RUNNING');

/** Their statuses, by the ids of their workflows. */
async function waitingRuns(app: TestApp): Promise<Map<string, string>> {
  const runs = await app.sql<{ id: string; status: string }>(
    `select r.id, r.status from flow_run r join project p on p.id = r.project_id and p.identifier = 'acme/waiting'`,
  );
  return new Map(
    await Promise.all(runs.map(async ({ id, status }) => [await workflowIdOfRun(app, id), status] as const)),
  );
}

const textOf = (rows: Rows): string => {
  const tables = Object.entries(rows).map(
    ([table, ofTable]) => `${JSON.stringify(table)}: [\n${ofTable.map((row) => JSON.stringify(row)).join(',\n')}\n]`,
  );
  return `{\n${tables.join(',\n')}\n}\n`;
};

async function allRows(url: string): Promise<Rows> {
  return withClient(url, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' and tablename <> $1 order by 1`,
      [OF_MIGRATIONS],
    );
    const all: Rows = {};
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: Row }>(`select row_to_json(t) as row from "${name}" t`);
      if (rows.length > 0) all[name] = inOrder(rows.map(({ row }) => row));
    }
    return all;
  });
}
