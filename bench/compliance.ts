import { parseArgs } from 'node:util';
import { Figures, quantile } from './figures.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures the report on approvals: the whole of it as CSV, with the memory that it takes, and pages of it as JSON.
 * Options: `--rounds 3`, `--rows 200000`.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, rows: { type: 'string', default: '200000' } },
});
const ROWS = Number(options.rows);
const repositoryIdentifier = 'bench/shop';
const path = `/api/flows/approvals/compliance?repositoryIdentifier=${repositoryIdentifier}`;

const service = await startService([]);
try {
  const { id: projectId } = await service.call<{ id: string }>('POST', '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
  });
  await service.database.query(
    `insert into approval_event (id, tenant_id, project_id, repository_identifier, approval_id, run_id, task_type, environment_name, domain, release_name,
       status, source, approvers, requested_by, requested_at, resolved_by, resolved_at, comment, occurred_at)
     select uuidv7(), $1, $2, $3, uuidv7(), uuidv7(), 'execute-release', 'environment-' || i % 5, 'domain-' || i % 7, 'release-' || i % 1000,
       (array['requested', 'approved', 'requested', 'rejected', 'requested', 'expired'])[i % 6 + 1], 'vote', '{platform,release-board}',
       'dana' || i % 50 || '@acme.example.com', now() - make_interval(secs => i + 60), case when i % 2 = 1 then 'lee' || i % 20 || '@acme.example.com' end,
       case when i % 2 = 1 then now() - make_interval(secs => i) end, case when i % 4 = 1 then 'checked in staging, see ticket ' || i end,
       now() - make_interval(secs => i)
     from generate_series(1, $4::int) i`,
    [service.tenantId, projectId, repositoryIdentifier, ROWS],
  );
  await service.database.query('vacuum analyze');
  const figures = new Figures();
  const generator = await service.start('./http-load.ts');
  // A process that has just started grows by what V8 keeps for young objects, whatever it does first.
  const warmUp = [{ method: 'GET' as const, path: '/api/projects?limit=1' }];
  await generate(generator, { url: service.url, token: service.token, connections: 8, count: 5_000, requests: warmUp });

  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    const before = service.apiMegabytes();
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, service.apiMegabytes());
    }, 20);
    const cpu = service.measureCpu();
    const startedAt = performance.now();
    const response = await fetch(`${service.url}${path}&format=csv`, {
      headers: { authorization: `Bearer ${service.ownerToken}` },
    });
    let bytes = 0;
    let lines = 0;
    let firstByteMs = 0;
    for await (const chunk of response.body ?? []) {
      if (bytes === 0) firstByteMs = performance.now() - startedAt;
      bytes += chunk.length;
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines++;
    }
    const seconds = (performance.now() - startedAt) / 1_000;
    clearInterval(watch);
    figures.noteCpu('CSV, per row', cpu(), lines - 1);
    figures.note('CSV: rows per second', (lines - 1) / seconds, '/s', '>= 50000');
    figures.note('CSV: rows missing', ROWS - (lines - 1), '', '0');
    figures.note('CSV: first byte', firstByteMs);
    figures.note('CSV: size', bytes / 1_048_576, 'MB');
    figures.note('CSV: growth of the API process', most - before, 'MB', '<= 100');

    for (const [name, query] of [
      ['first page', ''],
      ['one status, one environment', '&status=approved&environment=environment-1'],
      ['deep page', `&offset=${Math.floor(ROWS * 0.9)}`],
    ] as const) {
      const count = 50;
      const load = {
        url: service.url,
        token: service.token,
        connections: 2,
        count,
        requests: [{ method: 'GET' as const, path: path + query }],
      };
      const pageCpu = service.measureCpu();
      const result = await generate(generator, load);
      figures.noteCpu(`JSON, ${name}`, pageCpu(), count);
      figures.note(`JSON, ${name}: p50`, quantile(result.latenciesMs, 0.5));
      figures.note(`JSON, ${name}: p95`, quantile(result.latenciesMs, 0.95));
      figures.note(`JSON, ${name}: other answers than 200`, unexpected(result, 200), '', '0');
    }
  }
  figures.print();
} finally {
  await service.stop();
}
