import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { nodeFlags } from '../tools/child.ts';
import { embeddedDatabaseUrl } from '../tools/embedded-postgres.ts';
import { anyFreePort } from '../tools/ports.ts';
import { sweeperId } from '../workflows/kernel/system/sweeper.contract.ts';
import { createTemporalClient } from '../workflows/temporal-client.ts';

/**
 * Prints the memory of an idle service, started as `npm start` does, and what each further task queue costs a worker.
 * RSS counts pages that processes share in each of them, PSS shares them out. Option: `--seconds 30` of idleness.
 */
const { values: options } = parseArgs({ options: { seconds: { type: 'string', default: '30' } } });
const IDLE_MS = Number(options.seconds) * 1_000;
const START = fileURLToPath(new URL('../tools/start.ts', import.meta.url));
const WORKER = fileURLToPath(new URL('../activities/main.ts', import.meta.url));

interface Memory {
  rss: number;
  pss: number;
}

/** Resident memory of a process, MB. */
function memoryOf(pid: number): Memory {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const megabytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1]) / 1_024;
  return { rss: megabytes('Rss'), pss: megabytes('Pss') };
}

const print = (name: string, { rss, pss }: Memory, target = ''): void =>
  console.log(`${name.padEnd(34)}${rss.toFixed(1).padStart(8)} MB RSS${pss.toFixed(1).padStart(8)} MB PSS  ${target}`);

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** A worker process on the service's database and engine; with its task queues, when it works. */
async function startWorker(env: NodeJS.ProcessEnv, queues?: readonly string[]) {
  const child = fork(WORKER, queues ? ['--queues', queues.join(',')] : [], {
    env,
    execArgv: nodeFlags('activities/main.ts'),
  });
  const [{ queues: names }] = (await once(child, 'message')) as [{ queues: string[] }];
  return { child, names };
}

/** What the engine is asked for by a service that does nothing: activities and timers of the sweeper. */
async function printSweeperActions(address: string): Promise<void> {
  const client = createTemporalClient({ address, namespace: 'default' });
  const events = async () => (await client.workflow.getHandle(sweeperId('')).fetchHistory()).events ?? [];
  const before = (await events()).length;
  const began = performance.now();
  await sleep(IDLE_MS);
  const added = (await events()).slice(before);
  const hours = (performance.now() - began) / 3_600_000;
  const actions = added.filter(
    (event) => event.activityTaskScheduledEventAttributes ?? event.timerStartedEventAttributes,
  );
  const runsADay = (added.length / hours) * (24 / 10_000);
  console.log(
    `sweeper: ${Math.round(actions.length / hours)} actions an hour (<= 1200), ${runsADay.toFixed(0)} continued runs a day`,
  );
  await client.connection.close();
}

const dataDir = mkdtempSync(join(tmpdir(), 'quayside-idle-'));
// As root, PostgreSQL runs as another user, who must be able to walk through it.
chmodSync(dataDir, 0o755);
const temporalPort = await anyFreePort();
const env: NodeJS.ProcessEnv = {
  ...process.env,
  DATA_DIR: dataDir,
  PORT: String(await anyFreePort()),
  TEMPORAL_PORT: String(temporalPort),
  TEMPORAL_UI_PORT: String(await anyFreePort()),
};
const service = spawn(process.execPath, ['--expose-gc', START], { env, stdio: ['ignore', 'pipe', 'inherit'] });
const children: ChildProcess[] = [service];
try {
  for await (const chunk of service.stdout) if (String(chunk).includes('is ready')) break;
  await sleep(IDLE_MS);
  const { parts } = JSON.parse(readFileSync(join(dataDir, 'instance.json'), 'utf8')) as {
    parts: { name: string; pid: number }[];
  };
  const targets: Record<string, string> = { API: '<= 160 MB RSS', worker: '<= 350 MB RSS' };
  print('npm start itself', memoryOf(service.pid ?? 0));
  for (const { name, pid } of parts) print(name, memoryOf(pid), targets[name]);
  await printSweeperActions(`127.0.0.1:${temporalPort}`);

  const workerEnv = {
    ...env,
    DATABASE_URL: embeddedDatabaseUrl(dataDir),
    TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
    METRICS_PORT: '0',
    LOG_LEVEL: 'warn',
  };
  const all = await startWorker(workerEnv);
  const [first = ''] = all.names;
  const one = await startWorker(workerEnv, [first]);
  children.push(all.child, one.child);
  await sleep(IDLE_MS);
  const many = memoryOf(all.child.pid ?? 0);
  const single = memoryOf(one.child.pid ?? 0);
  print(`worker of ${first}`, single);
  print(`worker of all ${all.names.length} queues`, many);
  const further = all.names.length - 1;
  const growth = { rss: (many.rss - single.rss) / further, pss: (many.pss - single.pss) / further };
  print('each further queue', growth, '<= 15 MB');
} finally {
  for (const child of children.toReversed()) await stop(child);
  rmSync(dataDir, { recursive: true, force: true });
}
