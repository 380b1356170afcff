import { parseArgs } from 'node:util';
import { Figures } from './figures.ts';
import { startService } from './service.ts';

/**
 * Measures what it takes to try a policy on 5,000 past deployments to production, of releases that were in four
 * environments before. Options: `--rounds 3`, `--deployments 5000`.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, deployments: { type: 'string', default: '5000' } },
});
const ENVIRONMENTS = ['dev', 'sit', 'uat', 'staging', 'production'];
const repositoryIdentifier = 'bench/backtest';
const DAY_MS = 24 * 3_600_000;

const service = await startService([]);
try {
  const { database, tenantId } = service;
  await service.call('POST', '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  for (const [orchestrationOrder, name] of ENVIRONMENTS.entries())
    await service.call('POST', '/api/environments', {
      repositoryIdentifier,
      name,
      category: 'release',
      orchestrationOrder,
    });
  await database.query(
    `insert into release_candidate (id, tenant_id, project_id, domain, release_name, commit_sha, value, created_by, updated_by, created_at)
     select uuidv7(), p.tenant_id, p.id, 'domain-' || n % 5, 'r' || n, repeat('a', 40),
       jsonb_build_object('artifacts', (select jsonb_object_agg('package-' || k, '1.' || n || '.0') from generate_series(1, 20) k)),
       'bench', 'bench', now() - interval '200 days'
     from project p, generate_series(1, $2::int) n where p.tenant_id = $1`,
    [tenantId, options.deployments],
  );
  await database.query(
    `insert into release_deployment (id, tenant_id, project_id, environment_id, candidate_id, domain, release_name, status, deployed_at, dedupe_key, packages, installed, content_digest, installs_all, reported_by, applied_at)
     select uuidv7(), c.tenant_id, c.project_id, e.id, c.id, c.domain, c.release_name, 'Success',
       now() - interval '179 days' * (1 - substr(c.release_name, 2)::float8 / $2) + e.orchestration_order * interval '40 minutes',
       'bench', c.value -> 'artifacts', c.value -> 'artifacts', c.content_digest, true, '{"type": "user", "id": "bench"}', now()
     from release_candidate c join environment e on e.tenant_id = c.tenant_id and e.project_id = c.project_id
     where c.tenant_id = $1`,
    [tenantId, options.deployments],
  );
  await database.query('vacuum analyze');
  const now = Date.now();
  const body = {
    promotion: {
      after: ['sit', 'uat', 'staging'],
      soakMinutes: 60,
      windows: [{ days: ['mon', 'tue', 'wed', 'thu'], from: '08:00', to: '18:00', timezone: 'Europe/Berlin' }],
    },
    approvalPolicy: { minApprovals: 2 },
    environments: ['production'],
    from: new Date(now - 179.9 * DAY_MS).toISOString(),
    to: new Date(now + DAY_MS / 10).toISOString(),
  };
  const path = `/api/projects/${encodeURIComponent(repositoryIdentifier)}/policy-backtest`;
  const figures = new Figures();
  for (let round = 0; round <= Number(options.rounds); round++) {
    const cpu = service.measureCpu();
    const begun = performance.now();
    const { environments } = await service.call<{ environments: Record<string, number>[] }>('POST', path, body);
    const ms = performance.now() - begun;
    const { deployments, refusedTotal, waitedTotal } = environments[0] ?? {};
    console.log(`${deployments} deployments, ${refusedTotal} refused, ${waitedTotal} waited: ${ms.toFixed(0)} ms`);
    const name = round === 0 ? 'backtest, the first of a process' : 'backtest';
    figures.note(name, ms, 'ms', '<= 2000');
    figures.noteCpu(name, cpu(), 1);
  }
  figures.print();
} finally {
  await service.stop();
}
