import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { generateHistory, newRepository, packageNames } from '../test/support/repository.ts';
import { Figures } from './figures.ts';
import { startService } from './service.ts';

/**
 * Measures reports without the time of a model, through the whole stack: facts of a repository with 50 packages, all
 * released once, with changes in each since then and 2,000 deployments; from the request to the published report, and the
 * request that finds one of the same facts. Options: `--rounds 3`, `--commits 10000`, `--reports 20` of each round.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    commits: { type: 'string', default: '10000' },
    reports: { type: 'string', default: '20' },
  },
});
const COMMITS = Number(options.commits);
const repositoryIdentifier = 'bench/reports';

process.env.ALLOW_LOCAL_GIT = 'true';
const remote = newRepository();
const service = await startService(['git-v1', 'ai-v1', 'releases-v1']);
try {
  generateHistory(remote, { commits: COMMITS, packages: 50 });
  const line = remote.lines(['rev-list', '--first-parent', '--reverse', 'main']);
  const { id: projectId } = await service.call<{ id: string }>('POST', '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    remoteUrl: remote.path,
    configuration: { workItems: { workItemFilters: ['SHOP-\\d+'] } },
  });
  const mirror = `/api/projects/${encodeURIComponent(repositoryIdentifier)}/mirror`;
  while ((await service.call<{ fetchedAt: string | null }>('GET', mirror)).fetchedAt === null) await sleep(100);
  await service.call('POST', '/api/environments', { repositoryIdentifier, name: 'production', category: 'release' });
  await service.call('POST', '/api/release-candidates', {
    repositoryIdentifier,
    domain: 'core',
    releaseName: '1',
    commitSha: line[Math.floor(line.length * 0.8)],
    value: { artifacts: Object.fromEntries(packageNames(50).map((name) => [name, '1.0.0-1'])) },
  });
  const event = { repositoryIdentifier, domain: 'core', releaseName: '1', environmentName: 'production' };
  await service.call('POST', '/api/release-candidates/release-event', { ...event, deploymentStatus: 'Success' });
  await service.database.query(
    `insert into release_deployment (id, tenant_id, project_id, environment_id, candidate_id, domain, release_name, status,
       deployed_at, dedupe_key, installed, reported_by, applied_at, content_digest)
     select gen_random_uuid(), tenant_id, project_id, environment_id, candidate_id, domain, release_name,
       case when n % 10 = 0 then 'Failed' else 'Success' end, deployed_at - make_interval(hours => n), 'bench-' || n,
       case when n % 10 = 0 then '{}' else installed end, reported_by, now(), content_digest
     from release_deployment, generate_series(1, 2000) n where project_id = $1`,
    [projectId],
  );
  await service.database.query('vacuum analyze');

  const figures = new Figures();
  const refresh = (force: boolean) =>
    service.call<{ taskExecutionId: string; cached: boolean }>(
      'POST',
      `/api/ai-reports/refresh?${new URLSearchParams({
        repositoryIdentifier,
        scope: 'repository',
        scopeName: 'repository',
        provider: 'local',
        force: String(force),
      })}`,
    );
  const published = async (id: string): Promise<number> => {
    for (;;) {
      const { rows } = await service.database.query<{ status: string; ms: number }>(
        'select status, execution_time_ms as ms from ai_report where id = $1',
        [id],
      );
      if (rows[0]?.status === 'completed') return rows[0].ms;
      if (rows[0]?.status === 'failed') throw new Error('a report failed');
      await sleep(20);
    }
  };
  await published((await refresh(true)).taskExecutionId);
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    for (let report = 0; report < Number(options.reports); report++) {
      const { taskExecutionId } = await refresh(true);
      figures.note('report without the model', await published(taskExecutionId), 'ms', '<= 500');
      const startedAt = performance.now();
      const { cached } = await refresh(false);
      if (!cached) throw new Error('the same facts gave another report');
      figures.note('request for a report of the same facts', performance.now() - startedAt);
    }
  }
  figures.print();
} finally {
  await service.stop();
  remote.remove();
}
