import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { generateHistory, newRepository, packageNames } from '../test/support/repository.ts';
import { Figures } from './figures.ts';
import { noteRepeated, timed } from './repeated-calls.ts';
import { type Service, startService } from './service.ts';

/**
 * Measures what the API answers about releases, through the whole stack: the rolling analysis of 20 candidates of 50 packages, 50
 * releases in 4 environments with their changelogs, and the change summary, measures and notes over 200 releases.
 * Options: `--rounds 3`, `--commits 10000`.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, commits: { type: 'string', default: '10000' } },
});
const ROUNDS = Number(options.rounds);
const COMMITS = Number(options.commits);
const NAMES = packageNames(50);
const RELEASES = 200;
const ANALYSED = 20;
const ENVIRONMENTS = ['test', 'acceptance', 'staging', 'production'];
const repositoryIdentifier = 'bench/releases';
const query = new URLSearchParams({ repositoryIdentifier }).toString();

const artifactsOf = (version: string) => Object.fromEntries(NAMES.map((name) => [name, version]));

/** A candidate of all packages at a share of the history. */
const cut = (service: Service, domain: string, releaseName: string, commitSha: string, version: string) =>
  service.call('POST', '/api/release-candidates', {
    repositoryIdentifier,
    domain,
    releaseName,
    commitSha,
    value: { artifacts: artifactsOf(version) },
  });

/** Releases that were deployed to all environments, one after another. */
const deployAll = ({ database, tenantId }: Service, domain: string) =>
  database.query(
    `insert into release_deployment (id, tenant_id, project_id, environment_id, candidate_id, domain, release_name, status, deployed_at, dedupe_key, packages, reported_by, applied_at)
     select uuidv7(), c.tenant_id, c.project_id, e.id, c.id, c.domain, c.release_name, 'Success', now() - make_interval(hours => 5 * ($3 - n)::int - 4 + e.orchestration_order),
       'bench', c.value -> 'artifacts', '{"type": "user", "id": "bench"}', now()
     from (select *, row_number() over (order by created_at, id) as n from release_candidate where tenant_id = $1 and domain = $2) c
     join environment e on e.tenant_id = c.tenant_id and e.project_id = c.project_id`,
    [tenantId, domain, RELEASES],
  );

process.env.ALLOW_LOCAL_GIT = 'true';
const remote = newRepository();
const service = await startService(['git-v1']);
try {
  generateHistory(remote, { commits: COMMITS, packages: NAMES.length });
  const line = remote.lines(['rev-list', '--first-parent', '--reverse', 'main']);
  const at = (share: number) => line[Math.floor((line.length - 1) * share)] ?? '';
  await service.call('POST', '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    remoteUrl: remote.path,
    configuration: { workItems: { workItemFilters: ['SHOP-\\d+'] } },
  });
  for (const [orchestrationOrder, name] of ENVIRONMENTS.entries()) {
    await service.call('POST', '/api/environments', {
      repositoryIdentifier,
      name,
      category: 'release',
      orchestrationOrder,
    });
  }
  const isImported = async () =>
    (
      await service.call<{ fetchedAt: string | null }>(
        'GET',
        `/api/projects/${encodeURIComponent(repositoryIdentifier)}/mirror`,
      )
    ).fetchedAt !== null;
  while (!(await isImported())) await sleep(100);
  for (let index = 0; index < RELEASES; index++)
    await cut(service, 'core', `r${index}`, at((index + 1) / RELEASES), `1.${index}.0`);
  await deployAll(service, 'core');
  await service.database.query('vacuum analyze');

  const figures = new Figures();
  const paths = {
    list: `/api/releases?${query}&domain=core&activeOnly=false&limit=50&includeChangelog=true`,
    summary: `/api/releases/change-summary?${query}`,
    metrics: `/api/releases/metrics?${query}&window=week`,
    notes: `/api/releases/r${RELEASES - 1}/notes?${query}&format=md`,
    item: `/api/releases/work-items/SHOP-1?${query}`,
  };
  for (const [name, path] of Object.entries(paths)) {
    const { ms, kilobytes, headers } = await timed(service, path);
    console.log(
      `${name}, the first time: ${ms.toFixed(0)} ms, ${kilobytes.toFixed(0)} kB ${headers['content-encoding'] === 'gzip' ? 'by gzip' : ''}`,
    );
  }
  for (let round = 1; round <= ROUNDS; round++) {
    console.log(`round ${round}`);
    // A domain of its own in each round: no range of it was computed before.
    const domain = `rolling-${round}`;
    for (let index = 0; index < ANALYSED; index++)
      await cut(service, domain, `c${index}`, at((index + round / (ROUNDS + 1)) / ANALYSED), `${round + 1}.${index}.0`);
    const analysis = `/api/release-candidates/rolling-analysis/${encodeURIComponent(repositoryIdentifier)}/${domain}`;
    const withCommits = `${analysis}?includePackageChangelogs=true`;
    const coldCpu = service.measureCpu();
    const cold = await timed(service, analysis);
    const coldName = `rolling analysis, ${ANALYSED} candidates of ${NAMES.length} packages, cold`;
    figures.note(coldName, cold.ms, 'ms', '<= 600');
    figures.noteCpu(coldName, coldCpu(), 1);
    await noteRepeated(service, figures, 'rolling analysis, cached', analysis, '<= 15');
    await noteRepeated(service, figures, 'rolling analysis with its commits, cached', withCommits);
    const listed = `list of 50 releases in ${ENVIRONMENTS.length} environments with changelogs`;
    await noteRepeated(service, figures, listed, paths.list, '<= 120');
    await noteRepeated(service, figures, `change summary of ${RELEASES} releases`, paths.summary, '<= 500');
    await noteRepeated(service, figures, `measures of ${RELEASES * ENVIRONMENTS.length} deployments`, paths.metrics);
    await noteRepeated(service, figures, 'release notes', paths.notes);
    await noteRepeated(service, figures, 'places of a work item', paths.item);
    figures.note('API memory', service.apiMegabytes(), 'MB');
  }
  figures.print();
} finally {
  await service.stop();
  remote.remove();
}
