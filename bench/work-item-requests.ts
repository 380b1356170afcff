import { parseArgs } from 'node:util';
import { Figures, quantile } from './figures.ts';
import type { HttpLoad, HttpLoadResult } from './http-load.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures requests made in work items over 500,000 rows: callbacks at 50 a second, and lists by each pair of filters with
 * their totals. Options: `--rounds 3`, `--requests 20` lists per pair and round, `--callbacks 1000` per round.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    requests: { type: 'string', default: '20' },
    callbacks: { type: 'string', default: '1000' },
    rows: { type: 'string', default: '500000' },
  },
});
const PROJECTS = 50;
const PER_SECOND = 50;
const CONNECTIONS = 4;
const CALLBACK = '/api/work-items/requests/callback';
const PLATFORMS = ['host-a', 'host-b', 'tracker-a'];
const TYPES = [
  'install-packages',
  'install-artifacts',
  'run-apex-tests',
  'create-patch-branch',
  'request-freeze-users',
];

const service = await startService([]);
try {
  const figures = new Figures();
  const identifiers = Array.from({ length: PROJECTS }, (_, n) => `bench/project-${n}`);
  for (const identifier of identifiers) await service.call('POST', '/api/projects', { identifier, platform: 'host-a' });
  // A fifth is of one application, three in five are completed; over two years.
  await service.database.query(
    `insert into work_item_request (id, tenant_id, project_id, platform, work_item_key, title, task_type, release_candidate,
       repository_identifier, created_by, status, history, created_at, updated_at)
     select uuidv7(), $1, p.id, ($4::text[])[(n + i) % 3 + 1], (i / 50)::text, 'Request ' || i, ($5::text[])[i * 7 % 5 + 1],
       case when i % 2 = 0 then 'sales:2026.' || i % 2000 end,
       case when i % 10 = 0 then 'bench/shared-' || i % 7 else p.identifier end,
       case when i % 5 = 0 then 'app:ci' else 'person-' || i % 199 || '@bench.example' end,
       (array['completed', 'completed', 'completed', 'completed', 'completed', 'completed', 'closed', 'closed', 'failed',
         case when i % 20 = 0 then 'in_progress' else 'open' end])[(i * 13 / 11) % 10 + 1],
       '[]', now() - interval '2 years' * ($2 - i) / $2, now()
     from generate_series(1, $2::int) i
     join (select id, identifier, row_number() over (order by identifier)::int as n from project where tenant_id = $1) p
       on p.n = i % $3 + 1`,
    [service.tenantId, Number(options.rows), PROJECTS, PLATFORMS, TYPES],
  );
  // Repositories of requests that are kept by other projects; a filter by one that is not registered is refused.
  for (let n = 0; n < 7; n++)
    await service.call('POST', '/api/projects', { identifier: `bench/shared-${n}`, platform: 'host-a' });
  await service.database.query(
    `insert into work_item_request_execution select tenant_id, project_id, 'job-' || id, id from work_item_request`,
  );
  await service.database.query('vacuum analyze work_item_request_execution');
  await service.database.query('vacuum analyze work_item_request');
  await service.database.query('vacuum analyze work_item_request_tally');
  await service.database.query('vacuum analyze work_item_request_count');
  const generator = await service.start('./http-load.ts');
  const load = (
    given: Omit<HttpLoad, 'url' | 'token' | 'connections'>,
    connections = CONNECTIONS,
  ): Promise<HttpLoadResult> => generate(generator, { url: service.url, token: service.token, connections, ...given });

  /** Two callbacks for each execution, of requests that there are and of new ones. */
  const callbacks = (round: number): HttpLoad['requests'] =>
    Array.from({ length: Number(options.callbacks) }, (_, n) => ({
      method: 'POST' as const,
      path: CALLBACK,
      body: {
        event: n % 2 ? 'completed' : 'started',
        platform: 'host-a',
        projectIdentifier: identifiers[Math.floor(n / 2) % PROJECTS],
        workItemKey: String(n % 4 < 2 ? Math.floor(n / 2) * 6 + 1 : 1_000_000 + round * 10_000 + Math.floor(n / 2)),
        taskType: TYPES[Math.floor(n / 2) % TYPES.length],
        executionId: `round-${round}-${Math.floor(n / 2)}`,
        result: { installed: ['core@1.4.0-7'] },
      },
    }));
  await load({ requests: callbacks(0).slice(0, 200), count: 200, perSecond: PER_SECOND }, 20);
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}: callbacks`);
    const requests = callbacks(round);
    const cpu = service.measureCpu();
    const result = await load({ requests, count: requests.length, perSecond: PER_SECOND }, 20);
    figures.noteCpu('callback', cpu(), requests.length);
    figures.note('callback at 50/s: p50', quantile(result.latenciesMs, 0.5));
    figures.note('callback at 50/s: p95', quantile(result.latenciesMs, 0.95), 'ms', '<= 25');
    figures.note('callback: other answers than 204', unexpected(result, 204), '', '0');
  }

  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  /** Common and rare values. */
  const filters: Record<string, string[]> = {
    projectIdentifier: identifiers.slice(0, 5),
    status: ['completed', 'open', 'in_progress,failed', 'closed'],
    platform: PLATFORMS,
    taskType: TYPES,
    releaseCandidate: ['sales:2026.0', 'sales:2026.1024'],
    repositoryIdentifier: ['bench/project-3', 'bench/shared-3'],
    createdBy: ['app:ci', 'person-7@bench.example', 'person-8@bench.example'],
    since: [daysAgo(7), daysAgo(90), daysAgo(300), daysAgo(500)],
  };
  const names = Object.keys(filters);
  const pairs = names.flatMap((one, index) => names.slice(index + 1).map((other) => [one, other] as const));
  const requestsOf = ([one, other]: readonly [string, string]): HttpLoad['requests'] =>
    (filters[one] ?? []).flatMap((a) =>
      (filters[other] ?? []).map((b) => ({
        method: 'GET' as const,
        path: `/api/work-items/requests?${new URLSearchParams({ [one]: a, [other]: b })}`,
      })),
    );
  for (const pair of pairs) await load({ requests: requestsOf(pair), count: requestsOf(pair).length });
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}: lists`);
    const all: number[] = [];
    const cpu = service.measureCpu();
    for (const pair of pairs) {
      const requests = requestsOf(pair);
      const count = Math.max(Number(options.requests), requests.length);
      const result = await load({ requests, count }, 1);
      all.push(...result.latenciesMs);
      figures.note(`list by ${pair.join(' and ')}: p95`, quantile(result.latenciesMs, 0.95), 'ms', '<= 40');
      figures.note('list: other answers than 200', unexpected(result, 200), '', '0');
    }
    figures.noteCpu('list by two filters', cpu(), all.length);
    const { latenciesMs } = await load(
      { requests: [{ method: 'GET', path: '/api/work-items/requests' }], count: 50 },
      1,
    );
    figures.note('list without filters: p95', quantile(latenciesMs, 0.95), 'ms', '<= 40');
    figures.note('list by any two filters: p50', quantile(all, 0.5));
    figures.note('list by any two filters: p95', quantile(all, 0.95), 'ms', '<= 40');
  }
  figures.print();
} finally {
  await service.stop();
}
