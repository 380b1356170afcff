import type { TestApp } from '../../../support/app.ts';
import { withGitWorker } from '../../../support/git-worker.ts';
import type { Json } from '../../../support/client.ts';
import { forgetFetch, mirrored, type MirroredProject } from '../../../support/mirrored.ts';
import { newRepository } from '../../../support/repository.ts';
import { eventually } from '../../../support/worker.ts';

let app: TestApp;
withGitWorker(['git-v1', 'releases-v1'], (started) => {
  app = started;
});

const configuration = { packagePaths: { app: 'app' } };
const mirrorOf = ({ repositoryIdentifier }: MirroredProject) =>
  app.as(app.owner).get(200, `/api/projects/${encodeURIComponent(repositoryIdentifier)}/mirror`);
const candidate = (repositoryIdentifier: string, releaseName: string, commitSha: string): Promise<Json> =>
  app.as(app.application).post(201, '/api/release-candidates', {
    repositoryIdentifier,
    domain: 'core',
    releaseName,
    commitSha,
    value: { artifacts: { app: releaseName } },
  });
const changesOf = (id: string, since: string): Promise<Json> =>
  app.as(app.member).get(200, `/api/release-candidates/${id}/changes?since=${since}`);
test('a commit that a candidate names before it is fetched is fetched at once, and the next ones within ten seconds together', async () => {
  const remote = newRepository();
  const first = remote.commit({ files: { 'app/a': '1' } });
  const project = await mirrored(app, remote, { configuration });
  await forgetFetch(app, project);
  const second = remote.commit({ files: { 'app/a': '2' } });
  const { id } = await candidate(project.repositoryIdentifier, '1.0.0', second);
  const isKnown = ({ missingChangelog }: Json) => missingChangelog === null;
  await expect(eventually(() => changesOf(id, first), isKnown)).resolves.toMatchObject({
    commits: [{ sha: second }],
  });

  // The ten seconds begin anew, so that all of them are left for what follows.
  await app.sql('update git_mirror set attempted_at = clock_timestamp() where project_id = ?', [project.id]);
  const { attemptedAt } = await mirrorOf(project);
  const more = [3, 4, 5].map((content) => remote.commit({ files: { 'app/a': String(content) } }));
  const ids: string[] = [];
  for (const [index, sha] of more.entries())
    ids.push((await candidate(project.repositoryIdentifier, `1.${index + 1}.0`, sha)).id);
  await expect(changesOf(ids[2] ?? '', first)).resolves.toMatchObject({
    commits: [],
    missingChangelog: { reason: 'fetching', lastTriedAt: attemptedAt },
  });
  const known = await eventually(() => changesOf(ids[2] ?? '', first), isKnown);
  expect(known.totalCommits).toBe(4);
  const next = await mirrorOf(project);
  expect(Date.parse(next.attemptedAt) - Date.parse(attemptedAt)).toBeGreaterThanOrEqual(10_000);
});

test('a commit that no fetch brings is unknown, also while it is asked for again and again', async () => {
  const remote = newRepository();
  const first = remote.commit({ files: { 'app/a': '1' } });
  const project = await mirrored(app, remote, { configuration });
  await forgetFetch(app, project);
  const { id } = await candidate(project.repositoryIdentifier, '1.0.0', 'f'.repeat(40));
  const isTried = ({ missingChangelog }: Json) => missingChangelog.reason !== 'fetching';
  const { missingChangelog } = await eventually(() => changesOf(id, first), isTried);
  expect(missingChangelog).toMatchObject({
    reason: 'unknown_commit',
    message: expect.stringContaining('f'.repeat(40)),
  });
  const { attemptedAt } = await mirrorOf(project);
  expect(missingChangelog.lastTriedAt).toBe(attemptedAt);
  for (let round = 0; round < 5; round++)
    expect((await changesOf(id, first)).missingChangelog).toEqual(missingChangelog);
  expect((await mirrorOf(project)).attemptedAt).toBe(attemptedAt);
});

test('events and builds that name unknown commits ask for a fetch, too', async () => {
  const remote = newRepository();
  remote.commit({ files: { 'app/a': '1' } });
  const project = await mirrored(app, remote, { configuration });
  const { repositoryIdentifier } = project;
  await app.as(app.owner).post(201, '/api/environments', { repositoryIdentifier, name: 'uat', category: 'release' });
  await candidate(repositoryIdentifier, '1.0.0', 'e'.repeat(40));
  const askedBy = async (ask: () => Promise<unknown>) => {
    await forgetFetch(app, project);
    const before = await mirrorOf(project);
    await ask();
    return eventually(
      () => mirrorOf(project),
      ({ attemptedAt }) => attemptedAt > before.attemptedAt,
    );
  };
  await askedBy(() =>
    app.as(app.application).post(200, '/api/release-candidates/release-event', {
      repositoryIdentifier,
      domain: 'core',
      releaseName: '1.0.0',
      environmentName: 'uat',
      deploymentStatus: 'Success',
    }),
  );
  await askedBy(() =>
    app
      .as(app.application)
      .post(400, '/api/builds/run', { repositoryIdentifier, branchName: 'main', commitId: 'd'.repeat(40) }),
  );
});

test('a project without a remote, and a remote that cannot be read, are said to be the reason', async () => {
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: 'acme/no-remote', platform: 'host-a' });
  const { id } = await candidate('acme/no-remote', '1.0.0', 'a'.repeat(40));
  await expect(changesOf(id, 'b'.repeat(40))).resolves.toMatchObject({ missingChangelog: { reason: 'no_remote' } });

  const remote = newRepository();
  const first = remote.commit({ files: { 'app/a': '1' } });
  const project = await mirrored(app, remote, { configuration });
  remote.remove();
  await project.fetch({ isFailing: true });
  const named = await candidate(project.repositoryIdentifier, '1.0.0', 'a'.repeat(40));
  await expect(changesOf(named.id, first)).resolves.toMatchObject({
    missingChangelog: { reason: 'unreachable', message: expect.stringContaining('no repository') },
  });
});
