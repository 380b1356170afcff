import { parseArgs } from 'node:util';
import { Figures, quantile } from './figures.ts';
import type { HttpLoadResult } from './http-load.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures the list of release candidates: 50 of 100,000 at 32 connections through the whole stack, pages deep in the
 * list, and the memory of the API over 100,000 requests. Options: `--rounds 3`, `--requests 20000` per round.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, requests: { type: 'string', default: '20000' } },
});
const CANDIDATES = 100_000;
const CONNECTIONS = 32;
const repositoryIdentifier = 'bench/shop';

const service = await startService([]);
try {
  const { id: projectId } = await service.call<{ id: string }>('POST', '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
  });
  await service.database.query(
    `insert into release_candidate (id, tenant_id, project_id, domain, release_name, commit_sha, branch, value, status, created_by, updated_by, created_at)
     select uuidv7(), $1, $2, 'domain-' || i % 5, 'release-' || i, md5(i::text), case i % 3 when 0 then null else 'release/' || i % 10 end,
       jsonb_build_object('artifacts', jsonb_build_object('app', '1.0.' || i, 'lib', '2.1.' || i), 'metadata', jsonb_build_object('build', i)),
       (array['pending', 'in_progress', 'aborted'])[i % 3 + 1], 'bench', 'bench', now() - make_interval(secs => i)
     from generate_series(1, $3) i`,
    [service.tenantId, projectId, CANDIDATES],
  );
  await service.database.query('vacuum analyze');
  const figures = new Figures();
  const generator = await service.start('./http-load.ts');
  const list = (query: string, count: number): Promise<HttpLoadResult> =>
    generate(generator, {
      url: service.url,
      token: service.token,
      requests: [
        {
          method: 'GET',
          path: `/api/release-candidates?repositoryIdentifier=${repositoryIdentifier}&limit=50${query}`,
        },
      ],
      connections: CONNECTIONS,
      count,
    });
  await list('', 2_000);

  const perRound = Number(options.requests);
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    const cpu = service.measureCpu();
    const first = await list('', perRound);
    figures.noteCpu('first page', cpu(), perRound);
    figures.note('first page: requests per second', perRound / first.seconds, '/s', '>= 1600');
    figures.note('first page: p50', quantile(first.latenciesMs, 0.5));
    figures.note('first page: p95', quantile(first.latenciesMs, 0.95), 'ms', '<= 60');
    figures.note('first page: other answers than 200', unexpected(first, 200), '', '0');
    const filteredCpu = service.measureCpu();
    const filtered = await list('&domain=domain-1&status=pending', perRound / 4);
    figures.noteCpu('one domain and status', filteredCpu(), perRound / 4);
    figures.note('one domain and status: p95', quantile(filtered.latenciesMs, 0.95));
    for (const offset of [1_000, 10_000, 90_000]) {
      const deep = await list(`&offset=${offset}`, 500);
      figures.note(`offset ${offset.toLocaleString('en')}: p50`, quantile(deep.latenciesMs, 0.5));
    }
  }
  console.log('memory');
  const megabytes: number[] = [];
  for (const count of [20_000, 80_000]) {
    await list('', count);
    megabytes.push(service.apiMegabytes());
  }
  figures.note('API memory after 20,000 more requests', megabytes[0] ?? 0, 'MB');
  figures.note('API memory after 100,000 more requests', megabytes[1] ?? 0, 'MB', 'no growth');
  figures.print();
} finally {
  await service.stop();
}
