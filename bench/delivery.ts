import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { generateHistory, newRepository, packageNames } from '../test/support/repository.ts';
import { Figures, quantile } from './figures.ts';
import { noteRepeated, timed } from './repeated-calls.ts';
import { type Service, startService } from './service.ts';

/**
 * Measures the metrics of delivery and the places of a work item over many deployments, through the whole stack: releases
 * of 50 packages, each in a new version, in 4 environments. Options: `--rounds 3`, `--deployments 5000`,
 * `--commits 10000`.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    deployments: { type: 'string', default: '5000' },
    commits: { type: 'string', default: '10000' },
  },
});
const ROUNDS = Number(options.rounds);
const DEPLOYMENTS = Number(options.deployments);
const COMMITS = Number(options.commits);
const NAMES = packageNames(50);
const ENVIRONMENTS = ['test', 'acceptance', 'staging', 'production'];
const DAYS = 700;
/** How often a deployment comes before an answer. */
const DEPLOYED = 20;
const RELEASES = Math.floor((DEPLOYMENTS - DEPLOYED) / ENVIRONMENTS.length);
const TARGET = '<= 60';
const repositoryIdentifier = 'bench/delivery';
const project = new URLSearchParams({ repositoryIdentifier }).toString();

/** Candidates of all packages along a history, each deployed to all environments; one in ten failed first. */
async function seed({ database, tenantId }: Service, line: readonly string[]): Promise<void> {
  const commits = Array.from(
    { length: RELEASES },
    (_, index) => line[Math.floor(((line.length - 1) * (index + 1)) / RELEASES)],
  );
  await database.query(
    `insert into release_candidate (id, tenant_id, project_id, domain, release_name, commit_sha, value, status, status_changed_at, created_at, created_by, updated_by)
     select uuidv7(), p.tenant_id, p.id, 'core', 'r' || c.n, c.sha,
       jsonb_build_object('artifacts', (select jsonb_object_agg(name, '1.' || c.n || '.0') from unnest($3::text[]) name)),
       'finalized', now(), now() - make_interval(mins => ($4 - c.n)::int), '{"type": "user", "id": "bench"}', '{"type": "user", "id": "bench"}'
     from project p, unnest($2::text[]) with ordinality c (sha, n) where p.tenant_id = $1`,
    [tenantId, commits, NAMES, RELEASES],
  );
  await database.query(
    `insert into release_deployment (id, tenant_id, project_id, environment_id, candidate_id, domain, release_name, status, deployed_at, dedupe_key, packages, reported_by, applied_at)
     select uuidv7(), c.tenant_id, c.project_id, e.id, c.id, c.domain, c.release_name, case when n % 10 = 0 then 'Failed' else 'Success' end,
       now() - make_interval(secs => ($2 - n) * $3 * 86400 / $2 + 3600 - 600 * e.orchestration_order),
       'bench', c.value -> 'artifacts', '{"type": "user", "id": "bench"}', now()
     from (select *, row_number() over (order by created_at, id) as n from release_candidate where tenant_id = $1) c
     join environment e on e.tenant_id = c.tenant_id and e.project_id = c.project_id`,
    [tenantId, RELEASES, DAYS],
  );
  await database.query('vacuum analyze');
}

/** Answers each of which follows a deployment that was not there before. */
async function noteAfterDeployments(service: Service, figures: Figures, name: string, path: string, round: number) {
  const times: number[] = [];
  for (let index = 0; index < DEPLOYED; index++) {
    await service.database.query(
      `insert into release_deployment (id, tenant_id, project_id, environment_id, candidate_id, domain, release_name, status, deployed_at, dedupe_key, packages, reported_by, applied_at)
       select uuidv7(), tenant_id, project_id, environment_id, candidate_id, domain, release_name, 'Success', now(), $2, packages, reported_by, now()
       from release_deployment where tenant_id = $1 and release_name = 'r' || $3::int limit 1`,
      [service.tenantId, `${name} ${round} ${index}`, RELEASES - 1 - index],
    );
    times.push((await timed(service, path)).ms);
  }
  await service.database.query(`delete from release_deployment where dedupe_key <> 'bench'`);
  figures.note(`${name}, each after a deployment, p95`, quantile(times, 0.95));
}

process.env.ALLOW_LOCAL_GIT = 'true';
const remote = newRepository();
const service = await startService(['git-v1']);
try {
  generateHistory(remote, { commits: COMMITS, packages: NAMES.length });
  await service.call('POST', '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    remoteUrl: remote.path,
    configuration: { workItems: { workItemFilters: ['SHOP-\\d+'] } },
  });
  for (const [orchestrationOrder, name] of ENVIRONMENTS.entries())
    await service.call('POST', '/api/environments', {
      repositoryIdentifier,
      name,
      category: 'release',
      orchestrationOrder,
    });
  const mirror = `/api/projects/${encodeURIComponent(repositoryIdentifier)}/mirror`;
  while ((await service.call<{ fetchedAt: string | null }>('GET', mirror)).fetchedAt === null) await sleep(100);
  await seed(service, remote.lines(['rev-list', '--first-parent', '--reverse', 'main']));

  const since = new Date(Date.now() - (DAYS + 5) * 86_400_000).toISOString();
  const paths = {
    [`metrics of ${DEPLOYMENTS} deployments by week`]: `/api/releases/metrics?${project}&window=week&since=${since}`,
    [`metrics of 90 of ${DAYS} days`]: `/api/releases/metrics?${project}&window=day`,
    [`places of a work item over ${DEPLOYMENTS} deployments`]: `/api/releases/work-items/SHOP-1?${project}`,
  };
  const figures = new Figures();
  for (const [name, path] of Object.entries(paths)) {
    const cpu = service.measureCpu();
    const { ms, kilobytes } = await timed(service, path);
    const { API = 0, PostgreSQL = 0 } = cpu();
    console.log(
      `${name}, the first time: ${ms.toFixed(0)} ms, ${kilobytes.toFixed(0)} kB, ${API} ms of CPU of the API, ${PostgreSQL} ms of PostgreSQL`,
    );
  }
  for (let round = 1; round <= ROUNDS; round++) {
    console.log(`round ${round}`);
    for (const [name, path] of Object.entries(paths)) {
      await timed(service, path);
      await noteRepeated(service, figures, name, path, TARGET);
      await noteAfterDeployments(service, figures, name, path, round);
    }
    figures.note('API memory', service.apiMegabytes(), 'MB');
  }
  figures.print();
} finally {
  await service.stop();
  remote.remove();
}
