import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { demoClient } from '../tools/demo/client.ts';
import { compose, type Composition, OWNER } from '../tools/composition.ts';
import type { Container } from '../tools/container.ts';
import { buildImage } from '../tools/image.ts';

/**
 * The image under 50 requests a second while everything that can be killed is killed in turn; then counts what was lost
 * and what was done twice. Prints a table; exits with 1 when there is any.
 */
const REQUESTS_PER_SECOND = 50;
const BETWEEN_MS = 12_000;
const SETTLE_MS = 120_000;
const ATTEMPT_MS = 15_000;
const GIVE_UP_MS = 150_000;
const REPOSITORY = 'demo/chaos';
const RELEASES = 20;

const startedAt = performance.now();
const say = (text: string) =>
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${text}`);

type Kind = 'document' | 'release-event' | 'run' | 'delivery';

/** What one request asks for; `key` is found again at the end. */
interface Work {
  kind: Kind;
  key: string;
  method: string;
  path: string;
  body: unknown;
}

const workOf = (n: number): Work => {
  const key = `k${n}`;
  const works: Work[] = [
    {
      kind: 'document',
      key,
      method: 'POST',
      path: `/api/doc-store/collections/chaos/docs/${key}?store=doc`,
      body: { value: { n } },
    },
    {
      kind: 'release-event',
      key,
      method: 'POST',
      path: '/api/release-candidates/release-event',
      body: {
        repositoryIdentifier: REPOSITORY,
        domain: 'core',
        releaseName: `r${n % RELEASES}`,
        environmentName: 'uat',
        deploymentStatus: 'Success',
        executionId: key,
      },
    },
    { kind: 'run', key, method: 'POST', path: '/api/flows/run', body: { payload: { id: 'analyze', key } } },
    {
      kind: 'delivery',
      key,
      method: 'POST',
      path: '/api/webhooks/trigger',
      body: { event: 'chaos.happened', payload: { key } },
    },
  ];
  return works[n % works.length] as Work;
};

interface Accepted extends Work {
  reply: Record<string, unknown>;
}

/** Sends one request until it is answered, as a careful client does: with the same idempotency key. */
async function send(url: string, token: string, work: Work): Promise<Accepted | undefined> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  };
  const deadline = performance.now() + GIVE_UP_MS;
  while (performance.now() < deadline) {
    try {
      const signal = AbortSignal.timeout(ATTEMPT_MS);
      const { method, body } = work;
      const response = await fetch(`${url}${work.path}`, { method, headers, body: JSON.stringify(body), signal });
      const reply = (await response.json()) as Record<string, unknown>;
      // The second: it was done, and the answer was lost with the process.
      if (response.ok || response.status === 409) {
        if (reply.code !== 'in_progress') return { ...work, reply };
      } else if (response.status < 500 && response.status !== 429)
        throw new Error(`${work.path}: ${response.status} ${JSON.stringify(reply)}`, { cause: 'refused' });
    } catch (error) {
      if ((error as Error).cause === 'refused') throw error;
    }
    await sleep(500);
  }
  return undefined;
}

/** Takes deliveries and counts each key. */
async function startCounter() {
  const seen = new Map<string, number>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { key: string } };
      seen.set(data.key, (seen.get(data.key) ?? 0) + 1);
      response.writeHead(204).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, seen, close };
}

interface Processes {
  api: Container;
  worker: Container;
}

const EVENTS: [string, (composition: Composition, processes: Processes) => Promise<void>][] = [
  [
    'worker killed',
    async (composition, processes) => {
      processes.worker.kill();
      await sleep(1_000);
      processes.worker = await composition.start('worker');
    },
  ],
  [
    'API killed',
    async (composition, processes) => {
      processes.api.kill();
      await sleep(1_000);
      processes.api = await composition.start('api');
    },
  ],
  [
    'Temporal killed, away for 8 s',
    async ({ temporal }) => {
      temporal.kill();
      await sleep(8_000);
      await temporal.start();
    },
  ],
  [
    'PostgreSQL stopped, away for 5 s',
    async ({ postgres }) => {
      await postgres.stop();
      await sleep(5_000);
      await postgres.start();
    },
  ],
  [
    'API and worker killed at once',
    async (composition, processes) => {
      processes.api.kill();
      processes.worker.kill();
      await sleep(1_000);
      [processes.api, processes.worker] = await Promise.all([composition.start('api'), composition.start('worker')]);
    },
  ],
];

/** Sends at a steady rate until it is stopped; resolves with what was accepted, and how many were given up. */
function startLoad(url: string, token: string) {
  const pending: Promise<Accepted | undefined>[] = [];
  let n = 0;
  const timer = setInterval(() => {
    const sent = send(url, token, workOf(n++));
    // What it says is read at the end.
    sent.catch(() => undefined);
    pending.push(sent);
  }, 1_000 / REQUESTS_PER_SECOND);
  return async () => {
    clearInterval(timer);
    const outcomes = await Promise.allSettled(pending);
    const accepted = outcomes.flatMap((each) => (each.status === 'fulfilled' && each.value ? [each.value] : []));
    const refusals = outcomes.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []));
    return { accepted, refusals, givenUp: outcomes.length - accepted.length - refusals.length };
  };
}

interface Row {
  key: string;
  times: number;
}

/** How often the service did what each key asked for. */
async function doneByKind(
  client: pg.Client,
  seen: Map<string, number>,
  programs: string,
): Promise<Record<Kind, Row[]>> {
  const rows = async (text: string) => (await client.query<Row>(text)).rows;
  const ran = new Map<string, number>();
  for (const id of programs.split('\n').filter(Boolean)) ran.set(id, (ran.get(id) ?? 0) + 1);
  const runs = await client.query<{ key: string; id: string; status: string }>(
    `select payload ->> 'key' as key, id, status from flow_run where task_type = 'analyze'`,
  );
  return {
    document: await rows(`select key, version::int as times from document where collection = 'chaos'`),
    'release-event': await rows(
      'select execution_id as key, count(*)::int as times from release_deployment group by execution_id',
    ),
    // A run whose worker was killed is closed as failed, and its program is not started again.
    run: runs.rows
      .filter(({ status }) => ['succeeded', 'failed'].includes(status))
      .map(({ key, id, status }) => ({
        key,
        times: status === 'failed' ? Math.max(1, ran.get(id) ?? 0) : (ran.get(id) ?? 0),
      })),
    delivery: [...seen].map(([key, times]) => ({ key, times })),
  };
}

async function main(place: string): Promise<boolean> {
  const built = await buildImage(place, say);
  const work = join(place, 'work');
  mkdirSync(work, { mode: 0o777 });
  chmodSync(work, 0o777);
  const ranFile = join(work, 'ran');
  const commandsFile = join(work, 'commands.json');
  const args = ['-c', `echo "$QUAYSIDE_RUN_ID" >> ${ranFile}`];
  writeFileSync(commandsFile, JSON.stringify({ analyze: { program: '/bin/sh', args } }));
  writeFileSync(ranFile, '');
  chmodSync(ranFile, 0o666);
  const composition = await compose(built, place, {
    OUTBOUND_ALLOW: '127.0.0.0/8',
    COMMANDS_FILE: commandsFile,
    RATE_LIMIT_PER_MINUTE: '1000000',
  });
  const processes: Processes = { api: await composition.start('api'), worker: await composition.start('worker') };
  const counter = await startCounter();
  const client = new pg.Client(composition.databaseUrl);
  client.on('error', () => undefined);
  try {
    const owner = await demoClient(composition.url, OWNER);
    await owner.post('/api/projects', {
      identifier: REPOSITORY,
      platform: 'host-a',
      configuration: { domains: ['core'] },
    });
    await owner.post('/api/environments', { repositoryIdentifier: REPOSITORY, name: 'uat', category: 'test' });
    for (let n = 0; n < RELEASES; n++)
      await owner.post('/api/release-candidates', {
        repositoryIdentifier: REPOSITORY,
        domain: 'core',
        releaseName: `r${n}`,
        commitSha: '4b825dc642cb6eb9',
        value: { artifacts: { shop: `1.0.${n}` } },
      });
    await owner.post('/api/webhooks', {
      name: 'counter',
      event: 'chaos.happened',
      config: { url: counter.url },
      retryDelay: 500,
      retryCount: 20,
    });
    const { token } = await owner.post('/api/application-tokens', { name: 'chaos' });

    const stopLoad = startLoad(composition.url, String(token));
    for (const [what, happen] of EVENTS) {
      await sleep(BETWEEN_MS);
      const from = performance.now();
      await happen(composition, processes);
      say(`${what}; everything is healthy again after ${((performance.now() - from) / 1_000).toFixed(1)} s`);
    }
    await sleep(BETWEEN_MS);
    const { accepted, refusals, givenUp } = await stopLoad();
    say(`${accepted.length} requests accepted, ${refusals.length} refused, ${givenUp} given up`);
    for (const refusal of refusals.slice(0, 5)) console.log(refusal);

    let done: Record<Kind, Row[]> | undefined;
    const keysOf = (kind: Kind) => accepted.filter((each) => each.kind === kind).map(({ key }) => key);
    const missing = (kind: Kind) => {
      const found = new Set(done?.[kind].map(({ key }) => key));
      return keysOf(kind).filter((key) => !found.has(key));
    };
    const kinds: Kind[] = ['document', 'release-event', 'run', 'delivery'];
    await client.connect();
    const settled = performance.now();
    do {
      await sleep(1_000);
      done = await doneByKind(client, counter.seen, readFileSync(ranFile, 'utf8'));
    } while (kinds.some((kind) => missing(kind).length > 0) && performance.now() - settled < SETTLE_MS);
    say(`settled after ${((performance.now() - settled) / 1_000).toFixed(1)} s`);
    const table = kinds.map((kind) => ({
      kind,
      accepted: keysOf(kind).length,
      lost: missing(kind).length,
      twice: done?.[kind].filter(({ times }) => times > 1).length ?? 0,
      never: done?.[kind].filter(({ times }) => times === 0).length ?? 0,
    }));
    console.table(table);
    const { rows: failed } = await client.query<{ code: string | null; count: number }>(
      `select result ->> 'code' as code, count(*)::int from flow_run where status = 'failed' group by 1`,
    );
    console.log('runs that ended as failed, by code:', JSON.stringify(failed));
    const trail = await owner.get('/api/audit/verify');
    console.log('audit trail:', JSON.stringify(trail));
    // Deliveries are at least once.
    return (
      refusals.length === 0 &&
      table.every(({ kind, lost, twice, never }) => lost === 0 && never === 0 && (kind === 'delivery' || twice === 0))
    );
  } finally {
    counter.close();
    await client.end().catch(() => undefined);
    processes.api.kill();
    processes.worker.kill();
    await composition.stop();
  }
}

const place = mkdtempSync(join(tmpdir(), 'quayside-bad-days-'));
chmodSync(place, 0o755);
const isGood = await main(place).finally(() => {
  rmSync(place, { recursive: true, force: true });
});
say(isGood ? 'nothing lost, nothing done twice' : 'FAILED');
process.exitCode = isGood ? 0 : 1;
