import { parseArgs } from 'node:util';
import { Figures, quantile } from './figures.ts';
import type { HttpLoadResult } from './http-load.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures `GET /api/flows/runs` with every pair of filters over 1,000,000 runs, totals included. Options:
 * `--rounds 3`, `--runs 1000000`, `--requests 50` per pair and round.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    runs: { type: 'string', default: '1000000' },
    requests: { type: 'string', default: '50' },
  },
});
const FILTERS = [
  'repositoryIdentifier=bench/shop-3',
  'executionMode=cicd',
  'category=testing,build',
  'taskType=run-apex-tests',
  'status=Failed',
  'status=Completed,Partial',
  'flowPath=path-1',
  'workItemKey=42',
  'workItemType=host-a-issue',
  'since=30d',
  'date=2026-01-15',
  'triggeredBy=dev-7@bench.example',
  'includeScheduled=true',
];

const service = await startService([]);
try {
  for (let n = 0; n < 10; n++)
    await service.call('POST', '/api/projects', { identifier: `bench/shop-${n}`, platform: 'host-a' });
  await service.database.query('alter table flow_run disable trigger tallied');
  await service.database.query(
    `insert into flow_run (id, tenant_id, project_id, has_workflow, task_type, category, flow_path, execution_mode, is_internal, is_scheduled,
       status, display_status, payload, work_item_type, work_item_key, triggered_by, requested_by, created_at, updated_at, started_at, ended_at)
     select uuidv7(), $1, p.ids[1 + i % 10], true, t.type, t.category, 'flows/path-' || i % 40, case when i % 3 = 0 then 'cicd' else 'flow' end,
       i % 11 = 0, i % 7 = 0, s.status, s.display, '{"id": "build"}', case when i % 4 = 0 then 'host-a-issue' end,
       case when i % 4 = 0 then (i % 5000)::text end, 'dev-' || i % 60 || '@bench.example', '{}', moment, moment, moment, moment + interval '1 minute'
     from generate_series(1, $2::int) i
       cross join (select array_agg(id order by identifier) as ids from project) p
       cross join lateral (select now() - make_interval(secs => i * 31.5) as moment) m
       join lateral (select * from (values (0, 'run-apex-tests', 'testing'), (1, 'build', 'build'), (2, 'execute-release', 'release'), (3, 'install-packages', 'package'))
         as each (n, type, category) where n = i % 4) t on true
       join lateral (select * from (values (0, 'failed', 'Failed'), (1, 'partial', 'Partial'), (2, 'timed_out', 'Failed'), (3, 'cancelled', 'Cancelled'))
         as each (n, status, display) where n = i % 20 union all select 4, 'succeeded', 'Completed' where i % 20 > 3) s on true`,
    [service.tenantId, Number(options.runs)],
  );
  await service.database.query('alter table flow_run enable trigger tallied');
  await service.database.query(
    `insert into flow_run_tally (tenant_id, project_id, status, display_status, category, task_type, flow_path, execution_mode, work_item_type, is_internal, is_scheduled, runs, is_settled)
     select tenant_id, project_id, status, display_status, category, task_type, flow_path, execution_mode, work_item_type, is_internal, is_scheduled, count(*), true
     from flow_run group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11`,
  );
  await service.database.query('vacuum analyze');
  const generator = await service.start('./http-load.ts');
  const list = (query: string, count: number): Promise<HttpLoadResult> =>
    generate(generator, {
      url: service.url,
      token: service.token,
      requests: [{ method: 'GET', path: `/api/flows/runs?${query}` }],
      connections: 1,
      count,
    });
  const pairs = FILTERS.flatMap((first, index) =>
    FILTERS.slice(index + 1).map((second) => `${first}&${second}`),
  ).filter((pair) => new URLSearchParams(pair).size === new Set(new URLSearchParams(pair).keys()).size);

  const figures = new Figures();
  await list('', 200);
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    const latencies: number[] = [];
    const cpu = service.measureCpu();
    let slowest = { pair: '', p95: 0 };
    let others = 0;
    for (const pair of pairs) {
      const result = await list(pair, Number(options.requests));
      others += unexpected(result, 200);
      latencies.push(...result.latenciesMs);
      const p95 = quantile(result.latenciesMs, 0.95);
      if (p95 > slowest.p95) slowest = { pair, p95 };
    }
    figures.noteCpu('any two filters, per request', cpu(), latencies.length);
    console.log(`slowest pair: ${slowest.pair} (p95 ${slowest.p95.toFixed(1)} ms)`);
    figures.note(`any two of ${FILTERS.length} filters: p50`, quantile(latencies, 0.5));
    figures.note(`any two of ${FILTERS.length} filters: p95`, quantile(latencies, 0.95), 'ms', '<= 50');
    figures.note('slowest pair: p95', slowest.p95, 'ms', '<= 50');
    figures.note('other answers than 200', others, '', '0');
    const all = await list('', 200);
    figures.note('no filter: p95', quantile(all.latenciesMs, 0.95));
    const deep = await list('page=1000&limit=100', 20);
    figures.note('page 1,000 of 100: p50', quantile(deep.latenciesMs, 0.5));
  }
  figures.print();
} finally {
  await service.stop();
}
