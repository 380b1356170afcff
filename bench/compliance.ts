import { parseArgs } from 'node:util';
import { Figures, quantile } from './figures.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures the report on approvals: the whole of it as CSV, with the memory that it takes, and pages of it as JSON, also
 * with the deployments that nobody approved. Options: `--rounds 3`, `--rows 200000`, `--deployments 5000`.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    rows: { type: 'string', default: '200000' },
    deployments: { type: 'string', default: '5000' },
  },
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
  for (let index = 0; index < 5; index++)
    await service.call('POST', '/api/environments', {
      repositoryIdentifier,
      name: `environment-${index}`,
      category: 'release',
    });
  // Each release twice to each environment; of half of them one deployment was approved, by a run.
  await service.database.query(
    `with deployed as (
       insert into release_deployment (id, tenant_id, project_id, environment_id, domain, release_name, status, deployed_at, created_at, dedupe_key,
         content_digest, reported_by, applied_at)
       select uuidv7(), e.tenant_id, e.project_id, e.id, 'domain-' || r % 7, 'release-' || r, 'Success', at, at, n, 'digest', '{"email": "app:ci"}', now()
       from environment e, generate_series(1, $2::int / 10) r, generate_series(1, 2) n,
         lateral (select now() - make_interval(hours => 2 * r - n) as at)
       where e.tenant_id = $1 returning *),
     run as (
       insert into flow_run (id, tenant_id, project_id, environment_id, task_type, category, flow_path, execution_mode, status, display_status,
         has_workflow, domain, release_name, triggered_by, requested_by, created_at)
       select uuidv7(), tenant_id, project_id, environment_id, 'execute-release', 'release', 'flows/execute-release', 'flow', 'succeeded', 'Completed',
         true, domain, release_name, 'bench', '{"email": "dana@acme.example.com"}', deployed_at - interval '1 minute'
       from deployed where dedupe_key = '1' and right(release_name, 1) in ('1', '3', '5', '7', '9') returning *)
     insert into approval (id, tenant_id, project_id, repository_identifier, run_id, task_type, environment_id, domain, release_name, status, approvers,
       min_approvals, allow_self_approval, expires_at, requester_id, requested_by, resolved_at, content_digest)
     select uuidv7(), tenant_id, project_id, $3, id, task_type, environment_id, domain, release_name, 'approved', '{}', 1, false, now(), 'bench', 'bench',
       created_at, 'digest' from run`,
    [service.tenantId, Number(options.deployments), repositoryIdentifier],
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
      ['with unapproved deployments', '&includeUnapproved=true'],
      ['unapproved deployments', '&status=not_requested'],
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
