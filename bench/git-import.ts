import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { generateHistory, newRepository, packagePath } from '../test/support/repository.ts';
import { Figures } from './figures.ts';
import { type Service, startService } from './service.ts';

/**
 * Measures how long a repository takes to be queryable, through the whole stack: its first import, and a fetch of ten
 * commits more until they are among the changes of a candidate. Options: `--rounds 3`, `--commits 10000`.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, commits: { type: 'string', default: '10000' } },
});
const COMMITS = Number(options.commits);
const PACKAGES = 50;
const ADDED = 10;
const POLL_MS = 20;

interface Mirror {
  fetchedAt: string | null;
  error: string | null;
  commits: number;
}

/** Seconds until the mirror of a project has so many commits. */
async function untilImported(service: Service, repositoryIdentifier: string, commits: number): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const mirror = await service.call<Mirror>(
      'GET',
      `/api/projects/${encodeURIComponent(repositoryIdentifier)}/mirror`,
    );
    if (mirror.error !== null) throw new Error(mirror.error);
    if (mirror.fetchedAt !== null && mirror.commits >= commits) return (performance.now() - startedAt) / 1_000;
    await sleep(POLL_MS);
  }
}

process.env.ALLOW_LOCAL_GIT = 'true';
const service = await startService(['git-v1']);
const figures = new Figures();
try {
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    const remote = newRepository();
    try {
      generateHistory(remote, { commits: COMMITS, packages: PACKAGES, seed: round });
      const total = remote.lines(['rev-list', '--all']).length;
      const repositoryIdentifier = `bench/import-${round}`;
      const importCpu = service.measureCpu();
      await service.call('POST', '/api/projects', {
        identifier: repositoryIdentifier,
        platform: 'host-a',
        remoteUrl: remote.path,
      });
      figures.note(
        `first import of ${COMMITS.toLocaleString('en')} commits, ${PACKAGES} packages`,
        await untilImported(service, repositoryIdentifier, total),
        's',
        '<= 60',
      );
      figures.noteCpu('first import, per commit', importCpu(), total);

      const since = remote.git(['rev-parse', 'main']);
      let commitSha = since;
      for (let index = 0; index < ADDED; index++)
        commitSha = remote.commit({ files: { [`${packagePath('pkg-01')}/added ${index}.cls`]: 'content' } });
      const candidate = {
        repositoryIdentifier,
        domain: 'core',
        releaseName: 'added',
        commitSha,
        value: { artifacts: { 'pkg-01': '1.0.0' } },
      };
      const { id } = await service.call<{ id: string }>('POST', '/api/release-candidates', candidate);
      const fetchCpu = service.measureCpu();
      const requestedAt = performance.now();
      await service.call('POST', `/api/projects/${encodeURIComponent(repositoryIdentifier)}/mirror/fetch`);
      await untilImported(service, repositoryIdentifier, total + ADDED);
      const { totalCommits } = await service.call<{ totalCommits: number }>(
        'GET',
        `/api/release-candidates/${id}/changes?since=${since}`,
      );
      figures.note(
        `fetch of ${ADDED} commits until they are listed`,
        (performance.now() - requestedAt) / 1_000,
        's',
        '<= 3',
      );
      figures.noteCpu(`fetch of ${ADDED} commits`, fetchCpu(), 1);
      if (totalCommits !== ADDED) throw new Error(`${totalCommits} changes are listed instead of ${ADDED}`);
      figures.note('worker memory', service.workerMegabytes(), 'MB');
    } finally {
      remote.remove();
    }
  }
  figures.print();
} finally {
  await service.stop();
}
