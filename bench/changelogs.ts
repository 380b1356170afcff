import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { generateHistory, newRepository, packageNames } from '../test/support/repository.ts';
import { Figures } from './figures.ts';
import { noteRepeated, timed } from './repeated-calls.ts';
import { type Service, startService } from './service.ts';

/**
 * Measures changelogs over a whole history, whose commits are attributed to the merges that brought them in, through the
 * whole stack: of one package that is the repository, and of its 50 packages; the first time, and again.
 * Options: `--rounds 3`, `--commits 10000`.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, commits: { type: 'string', default: '10000' } },
});
const COMMITS = Number(options.commits);
const CASES = [
  { identifier: 'bench/whole', defaultBranch: 'whole', names: ['whole'], warmTarget: '<= 20' },
  { identifier: 'bench/parts', defaultBranch: 'main', names: packageNames(50), warmTarget: '' },
];

/** The project of a case, with its repository imported. */
async function register(service: Service, { identifier, defaultBranch }: (typeof CASES)[number]): Promise<void> {
  await service.call('POST', '/api/projects', {
    identifier,
    platform: 'host-a',
    remoteUrl: remote.path,
    defaultBranch,
    configuration: { packagePaths: { whole: '' }, workItems: { workItemFilters: ['SHOP-\\d+'] } },
  });
  const path = `/api/projects/${encodeURIComponent(identifier)}/mirror`;
  while ((await service.call<{ fetchedAt: string | null }>('GET', path)).fetchedAt === null) await sleep(100);
}

/** Measures the changelog from one of the first commits to one of the last. */
async function measure(
  service: Service,
  figures: Figures,
  round: number,
  { identifier, names, warmTarget }: (typeof CASES)[number],
): Promise<void> {
  const versions = (version: string) => Object.fromEntries(names.map((each) => [each, version]));
  const save = (releaseName: string, commitSha: string, version: string) =>
    service.call<{ id: string }>('POST', '/api/release-candidates', {
      repositoryIdentifier: identifier,
      domain: `changelog-${round}`,
      releaseName,
      commitSha,
      value: { artifacts: versions(version) },
    });
  await save('before', line[round] ?? '', `${round}.0.0`);
  const { id } = await save('after', line.at(-round) ?? '', `${round}.1.0`);
  const path = `/api/release-candidates/${id}/compare-to-packages?includeChangelog=true`;
  const sent = { packages: versions(`${round}.0.0`) };
  const name = `changelog of ${COMMITS.toLocaleString('en')} commits in ${names.length} ${names.length === 1 ? 'package' : 'packages'}`;
  const { ms, kilobytes } = await timed(service, path, sent);
  figures.note(`${name}, cold`, ms, 'ms', '<= 1000');
  figures.note(`${name}, compressed`, kilobytes, 'kB');
  await noteRepeated(service, figures, `${name}, warm`, path, warmTarget, sent);
}

process.env.ALLOW_LOCAL_GIT = 'true';
const remote = newRepository();
/** Commits of the main line, oldest first. */
const line: string[] = [];
const service = await startService(['git-v1']);
try {
  generateHistory(remote, { commits: COMMITS, packages: 50 });
  line.push(...remote.lines(['rev-list', '--first-parent', '--reverse', 'main']));
  // Without a manifest on the default branch, the packages are those of the setting.
  remote.git(['branch', 'whole', 'main']);
  remote.commit({ branch: 'whole', files: { 'sfdx-project.json': null } });
  for (const each of CASES) await register(service, each);
  await service.database.query('vacuum analyze');
  const figures = new Figures();
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    for (const each of CASES) await measure(service, figures, round, each);
    figures.note('API memory', service.apiMegabytes(), 'MB');
  }
  figures.print();
} finally {
  await service.stop();
  remote.remove();
}
