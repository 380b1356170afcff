import { createFencedReads, type FencedReads } from '../../../../domain/kernel/data/fenced-reads.ts';
import { createCommitGraphCache, type History } from '../../../../domain/code/git/graph/commit-graph-cache.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { mirrored } from '../../../support/mirrored.ts';
import { importPublishedVersions } from '../../../support/published-history.ts';
import {
  generateHistory,
  newRepository,
  packageNames,
  packagePath,
  randomNumbers,
  removeRepositories,
  type TestRepository,
} from '../../../support/repository.ts';
import { startWorker, type TestWorker } from '../../../support/worker.ts';

const PACKAGES = 50;
const COMMITS = process.env.DEEP_TESTS ? 10_000 : 1_500;
const ROUNDS = process.env.DEEP_TESTS ? { before: 60, after: 40 } : { before: 20, after: 10 };
/** Each so many-th of the packages with a changelog is published. */
const PUBLISHED_EVERY = process.env.DEEP_TESTS ? 1 : 6;

let app: TestApp;
let worker: TestWorker;
let reads: FencedReads;
beforeAll(async () => {
  app = await testApp({ env: { ALLOW_LOCAL_GIT: 'true' } });
  worker = await startWorker(app, ['git-v1']);
  reads = createFencedReads({ databaseUrl: app.databaseUrl, role: 'quayside_app', poolSize: 2 }, () => {});
});
afterAll(async () => {
  await worker.stop();
  await reads.close();
  await app.close();
  removeRepositories();
});

const histories = createCommitGraphCache();
/** The history as the service knows it, with the ids of its commits. */
async function known(projectId: string): Promise<{
  history: History;
  shas: string[];
  log: (packages: readonly string[], from: string | null, to: string) => (string | undefined)[];
}> {
  const history = await histories(reads.as(systemActor(app.tenantKey, 'test')), projectId);
  const rows = await app.sql<{ sha: string }>('select sha from git_commit where project_id = ? order by seq', [
    projectId,
  ]);
  const shas = rows.map(({ sha }) => sha);
  const numbers = new Map(shas.map((sha, seq) => [sha, seq]));
  const numberOf = (sha: string) => numbers.get(sha) ?? -1;
  return {
    history,
    shas,
    log(packages, from, to) {
      const selection =
        packages.length === 0 ? 'everything' : packages.map((name) => history.packages.get(name)?.packageNo ?? -1);
      return history.graph
        .log(selection, from === null ? null : numberOf(from), numberOf(to))
        .map((commit) => shas[commit]);
    },
  };
}

/** Holds ranges between random commits, of no, one or two packages, against what git lists. */
async function compareRanges(
  remote: TestRepository,
  projectId: string,
  { rounds, seed }: { rounds: number; seed: number },
): Promise<void> {
  const { shas, log } = await known(projectId);
  const random = randomNumbers(seed);
  const pick = () => shas[random(shas.length)] ?? '';
  const names = packageNames(PACKAGES);
  for (let round = 0; round < rounds; round++) {
    const [from, to] = [random(5) === 0 ? null : pick(), pick()];
    const chosen = Array.from({ length: random(3) }, () => names[random(PACKAGES)] ?? '');
    expect(log(chosen, from, to)).toEqual(remote.log(from, to, chosen.map(packagePath)));
  }
}

test(`of ${COMMITS} commits and ${PACKAGES} packages every range is what git itself lists, also after branches are forced and tags moved`, async () => {
  const remote = newRepository();
  generateHistory(remote, { commits: COMMITS, packages: PACKAGES });
  const random = randomNumbers(3);
  const commits = remote.lines(['rev-list', '--all']);
  const tag = (index: number, target: string) =>
    `update refs/tags/pkg-${String(index % PACKAGES).padStart(2, '0')}_v1.${index}.0.1 ${target}`;
  const tagAll = () =>
    remote.git(
      ['update-ref', '--stdin'],
      `${Array.from({ length: 200 }, (_, index) => tag(index, commits[random(commits.length)] ?? '')).join('\n')}\n`,
    );
  tagAll();
  const project = await mirrored(app, remote);
  expect((await known(project.id)).shas.toSorted()).toEqual(commits.toSorted());
  await compareRanges(remote, project.id, { rounds: ROUNDS.before, seed: 7 });

  // Branches are thrown back and go on from there, the main line, too; every tag moves.
  const branches = [
    'main',
    ...remote.lines(['for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads/feature']).slice(0, 5),
  ];
  for (const [index, branch] of branches.entries()) {
    const back = remote.git(['rev-parse', `${branch}~${index + 3}`]);
    remote.commit({
      branch,
      from: back,
      files: { [`${packagePath('pkg-07')}/forced ${index}.cls`]: branch },
      message: `Revert "A change"\n\nThis reverts commit ${back}.`,
    });
    remote.commit({
      branch,
      files: {
        [`${packagePath('pkg-03')}/größer ${index}.cls`]: branch,
        [`${packagePath('pkg-07')}/forced ${index}.cls`]: null,
      },
    });
  }
  tagAll();
  await project.fetch();
  const tags = await app.sql<{ name: string; sha: string }>(
    `select name, sha from git_ref where project_id = ? and kind = 'tag'`,
    [project.id],
  );
  const lines = remote.lines(['for-each-ref', '--format=%(refname:lstrip=2) %(objectname)', 'refs/tags']);
  expect(tags.map(({ name, sha }) => `${name} ${sha}`).toSorted()).toEqual(lines.toSorted());
  await compareRanges(remote, project.id, { rounds: ROUNDS.after, seed: 11 });
  const { log } = await known(project.id);
  for (const branch of branches)
    for (const name of ['pkg-03', 'pkg-07']) {
      const [from, to] = [commits[500] ?? '', remote.git(['rev-parse', branch])];
      expect(log([name], from, to)).toEqual(remote.log(from, to, [packagePath(name)]));
    }
});

test('of the published versions of real packages every changelog is what git lists, and its commits are told as they are', async () => {
  const remote = newRepository();
  const packages = importPublishedVersions(remote, PUBLISHED_EVERY);
  const packagePaths = Object.fromEntries(packages.map(({ packageName, path }) => [packageName, path]));
  const { id } = await mirrored(app, remote, { configuration: { packagePaths } });
  const { shas, log } = await known(id);
  expect(shas.length).toBeGreaterThanOrEqual(1_000 / PUBLISHED_EVERY);
  const shaOf = new Map(
    remote
      .lines(['for-each-ref', '--format=%(refname:lstrip=2) %(objectname)', 'refs/tags'])
      .map((line) => line.split(' ') as [string, string]),
  );
  for (const { packageName, path, tags } of packages) {
    const ends = tags.map((tag) => shaOf.get(tag) ?? '');
    const [first = '', last = ''] = [ends[0], ends.at(-1)];
    expect(log([packageName], null, last)).toEqual(remote.log(null, last, [path]));
    expect(log([packageName], first, last)).toEqual(remote.log(first, last, [path]));
    for (const [index, end] of ends.slice(-3).entries()) {
      const from = ends.slice(-3)[index - 1];
      if (from !== undefined) expect(log([packageName], from, end)).toEqual(remote.log(from, end, [path]));
    }
  }
  const rows = await app.sql<{ sha: string; subject: string; body: string; time: string }>(
    'select sha, subject, body, extract(epoch from committed_at)::text as time from git_commit where project_id = ?',
    [id],
  );
  const told = remote
    .git(['log', '--all', '-z', '--format=%H%x1f%ct%x1f%s%x1f%b'])
    .split('\0')
    .filter(Boolean)
    .map((each) => each.split('\x1f'));
  const byId = new Map(
    told.map(([sha = '', time, subject, body = '']) => [sha, { time: Number(time), subject, body: body.trimEnd() }]),
  );
  expect(new Map(rows.map(({ sha, subject, body, time }) => [sha, { time: Number(time), subject, body }]))).toEqual(
    byId,
  );
});
