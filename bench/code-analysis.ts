import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Figures, quantile } from './figures.ts';
import { startService } from './service.ts';

/**
 * Measures results of code analyses through the whole stack: logs of 25,000 results (8.6 MB) and of 120,000 in five runs
 * (48 MB) from the request to the reply, with the memory of the API process and the time of other requests meanwhile;
 * the comparison of two logs of 25,000; the dashboard; and the download of an analysis with its log. Options:
 * `--rounds 3`, `--reads 200` of the dashboard in each round.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, reads: { type: 'string', default: '200' } },
});
const PREFIX = '/api/testreports/code-analysis';
const repositoryIdentifier = 'bench/analysed';
const ofRepository = new URLSearchParams({ repositoryIdentifier }).toString();
/** So that results are some 345 bytes, as those of ESLint. */
const MESSAGE = 'Unexpected var, use let or const instead, since the scope of a variable should be its block.';

let made = 0;
const result = (place: number, round: number) => ({
  ruleId: `rule-${place % 40}`,
  level: place % 10 === 0 ? 'error' : 'warning',
  message: { text: `${MESSAGE} ${place % 20 === 0 ? round : ''}` },
  locations: [
    {
      physicalLocation: {
        artifactLocation: { uri: `force-app/main/default/classes/Component${place % 2_000}.js` },
        region: { startLine: (place % 900) + 1, startColumn: 5 },
      },
    },
  ],
  // One issue of twenty is new in each round, and one fixed.
  partialFingerprints: { primaryLocationLineHash: `${place % 20 === 0 ? `${round}-` : ''}${place}:1` },
});
function bodyOf(branch: string, { runs, results }: { runs: number; results: number }): Buffer {
  const round = ++made;
  return Buffer.from(
    JSON.stringify({
      repositoryIdentifier,
      branch,
      commitId: round.toString(16).padStart(40, '0'),
      analyzedAt: new Date(Date.UTC(2026, 0, 1) + round * 60_000).toISOString(),
      duration: 1,
      sarif: {
        version: '2.1.0',
        runs: Array.from({ length: runs }, (_, run) => ({
          tool: { driver: { name: `tool-${run}`, version: '1.0.0' } },
          results: Array.from({ length: results }, (__, place) => result(place, round)),
        })),
      },
    }),
  );
}

const service = await startService(['git-v1']);
const authorization = `Bearer ${service.ownerToken}`;
const request = (path: string, init: RequestInit = {}) =>
  fetch(`${service.url}${path}`, {
    ...init,
    headers: { authorization, 'content-type': 'application/json', 'accept-encoding': 'identity' },
  });

async function publish(body: Buffer): Promise<number> {
  const startedAt = performance.now();
  const reply = await request(`${PREFIX}/results`, { method: 'POST', body });
  if (reply.status !== 201) throw new Error(`${reply.status} ${await reply.text()}`);
  await reply.body?.cancel();
  return performance.now() - startedAt;
}

/** Publishes while others ask for something small; answers their times, and the most memory that was in use besides. */
async function publishMeanwhile(body: Buffer): Promise<{ ms: number; others: number[]; growth: number }> {
  const before = service.apiMegabytes();
  const others: number[] = [];
  const done = new AbortController();
  let peak = before;
  const asking = (async () => {
    while (!done.signal.aborted) {
      const startedAt = performance.now();
      await (await request(`/api/projects?limit=1`)).text();
      others.push(performance.now() - startedAt);
      peak = Math.max(peak, service.apiMegabytes());
      await sleep(5);
    }
  })();
  const ms = await publish(body);
  done.abort();
  await asking;
  return { ms, others, growth: peak - before };
}

async function compared(branch: string): Promise<void> {
  for (;;) {
    const { rows } = await service.database.query(
      'select 1 from code_analysis where branch = $1 and compared_at is null',
      [branch],
    );
    if (rows.length === 0) return;
    await sleep(50);
  }
}

/** The comparison alone: of issues that are indexed already. */
async function compare(branch: string): Promise<number> {
  const { rows } = await service.database.query<{ commit_id: string }>(
    'select commit_id from code_analysis where branch = $1 order by analyzed_at desc limit 2',
    [branch],
  );
  const [head, base] = rows.map(({ commit_id }) => commit_id);
  const startedAt = performance.now();
  const reply = await request(`${PREFIX}/compare?${ofRepository}&branch=${branch}&base=${base}&head=${head}`);
  if (reply.status !== 200) throw new Error(await reply.text());
  await reply.text();
  return performance.now() - startedAt;
}

try {
  await service.call('POST', '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  const small = { runs: 1, results: 25_000 };
  for (let warmUp = 0; warmUp < 2; warmUp++) await publish(bodyOf('main', small));
  await compared('main');
  console.log('warmed up');
  const figures = new Figures();
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    const body = bodyOf('main', small);
    const { ms, others, growth } = await publishMeanwhile(body);
    const title = `25,000 results (${(body.byteLength / 1e6).toFixed(1)} MB)`;
    figures.note(`${title} accepted`, ms, 'ms', '<= 1200');
    figures.note(`${title}: other requests, p95`, quantile(others, 0.95), 'ms', '<= 60');
    figures.note(`${title}: memory, growth`, growth, 'MB', '<= 80');
    const acceptedAt = performance.now();
    await compared('main');
    figures.note('from the reply to the comparison, indexing included', performance.now() - acceptedAt);
    figures.note('comparison of two of 25,000 by the API', await compare('main'), 'ms', '<= 1000');

    const times: number[] = [];
    for (let read = 0; read < Number(options.reads); read++) {
      const startedAt = performance.now();
      await (await request(`${PREFIX}/dashboard/main?${ofRepository}`)).text();
      times.push(performance.now() - startedAt);
    }
    figures.note('dashboard, p95', quantile(times, 0.95), 'ms', '<= 20');

    const startedAt = performance.now();
    const bytes = (await (await request(`${PREFIX}?${ofRepository}&branch=main`)).arrayBuffer()).byteLength;
    figures.note('analysis with its log', bytes / 1e3 / (performance.now() - startedAt), 'MB/s', '>= 100');

    const large = bodyOf('large', { runs: 5, results: 24_000 });
    const accepted = await publishMeanwhile(large);
    const name = `120,000 results (${(large.byteLength / 1e6).toFixed(1)} MB)`;
    figures.note(`${name} accepted`, accepted.ms, 'ms', '<= 5000');
    figures.note(`${name}: other requests, p95`, quantile(accepted.others, 0.95), 'ms', '<= 60');
    figures.note(`${name}: memory, growth`, accepted.growth, 'MB', '<= 80');
    await compared('large');
  }
  figures.print();
} finally {
  await service.stop();
}
