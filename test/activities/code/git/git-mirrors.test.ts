import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { createGitMirrors } from '../../../../activities/adapters/git/git-mirrors.ts';
import { importFacts } from '../../../../activities/code/git/import-facts.ts';
import type { GitMirrors } from '../../../../domain/code/git/mirror/git-mirrors.port.ts';
import { beginFetch } from '../../../../domain/code/git/mirror/mirror.queries.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { outboundAddresses } from '../../../../domain/kernel/outbound/outbound-addresses.ts';
import { type GitServer, startGitServer, trustingGit } from '../../../simulators/git-server.ts';
import { activityDeps } from '../../../support/activities.ts';
import { testApp } from '../../../support/app.ts';
import { generateHistory, newRepository, type TestRepository } from '../../../support/repository.ts';

const created: string[] = [];
let remote: TestRepository;
let server: GitServer;
beforeAll(async () => {
  remote = newRepository();
  generateHistory(remote, { commits: 60, packages: 3 });
  server = await startGitServer(tmpdir());
});
afterAll(async () => {
  await server.close();
  remote.remove();
  for (const folder of created) rmSync(folder, { recursive: true, force: true });
});

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'quayside-mirrors-'));
  created.push(folder);
  return folder;
};
const logged: string[] = [];
const mirrorsIn = (folder: string, program?: string): GitMirrors =>
  createGitMirrors({
    folder,
    allowLocal: true,
    addresses: outboundAddresses('127.0.0.0/8'),
    log: pino({}, { write: (line) => logged.push(line) }),
    ...(program !== undefined && { program }),
  });
const newMirror = () => ({ tenantId: newId(), projectId: newId() });
const { signal } = new AbortController();
const local = () => ({ url: remote.path, credential: undefined });
const filesIn = (folder: string): string[] =>
  (readdirSync(folder, { recursive: true }) as string[])
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());

test('a remote is opened by the credential, which is written nowhere; when it is revoked, what is known stays', async () => {
  const folder = newFolder();
  const mirrors = mirrorsIn(folder, trustingGit(folder));
  const mirror = newMirror();
  const credential = { username: 'x-access-token', password: 'a "secret" $(token) `of` \\ a host' };
  const at = { url: server.urlOf(remote.path), credential };
  server.admit(credential);
  await expect(mirrors.fetch(mirror, at, signal)).resolves.toEqual({ outcome: 'fetched' });
  const refs = await mirrors.refs(mirror);
  expect(refs).toContainEqual({ kind: 'branch', name: 'main', sha: remote.git(['rev-parse', 'main']) });
  // The manifest is fetched when it is read.
  await expect(
    mirrors.file(mirror, at, remote.git(['rev-parse', 'main']), 'sfdx-project.json', 10_000),
  ).resolves.toContain('packageDirectories');

  server.admit({ username: 'x-access-token', password: 'another' });
  await expect(mirrors.fetch(mirror, at, signal)).resolves.toEqual({
    outcome: 'failed',
    reason: 'The remote refused the credentials',
  });
  await expect(mirrors.refs(mirror)).resolves.toEqual(refs);
  await expect(mirrors.fetch(mirror, { ...at, credential: undefined }, signal)).resolves.toEqual({
    outcome: 'failed',
    reason: 'The remote refused the credentials',
  });
  for (const file of filesIn(folder)) expect(readFileSync(file).includes('secret')).toBe(false);
  expect(logged.join('')).not.toMatch(/secret|127\.0\.0\.1/);
  expect(server.seen.length).toBeGreaterThan(0);
});

test('a disk that is full during a fetch is told, leaves nothing behind and harms nothing', async () => {
  const folder = newFolder();
  const mirror = newMirror();
  const first = remote.git(['rev-parse', 'main']);
  await expect(mirrorsIn(folder).fetch(mirror, local(), signal)).resolves.toEqual({ outcome: 'fetched' });
  const refs = await mirrorsIn(folder).refs(mirror);
  const large = Array.from({ length: 400 }, (_, index) => [`large/${index}-${'x'.repeat(120)}`, `${index}`] as const);
  remote.commit({ files: Object.fromEntries(large) });

  // No file may grow beyond 4 KiB: writing fails where it goes on, as it does on a full disk or beyond a quota.
  const narrow = join(folder, 'narrow-git');
  writeFileSync(narrow, `#!/bin/sh\ntrap '' XFSZ\nulimit -f 4\nexec git "$@"\n`);
  chmodSync(narrow, 0o755);
  await expect(mirrorsIn(folder, narrow).fetch(mirror, local(), signal)).resolves.toEqual({
    outcome: 'failed',
    reason: 'There is no space left for the mirror',
  });
  expect(filesIn(folder).filter((path) => path.includes('tmp_'))).toEqual([]);
  await expect(mirrorsIn(folder).refs(mirror)).resolves.toEqual(refs);
  await expect(mirrorsIn(folder).commits(mirror, [first])).resolves.toHaveLength(1);

  await expect(mirrorsIn(folder).fetch(mirror, local(), signal)).resolves.toEqual({ outcome: 'fetched' });
  await expect(mirrorsIn(folder).refs(mirror)).resolves.toContainEqual({
    kind: 'branch',
    name: 'main',
    sha: remote.git(['rev-parse', 'main']),
  });
});

test('two processes that fetch into one mirror at once do it no harm', async () => {
  const folder = newFolder();
  const mirror = newMirror();
  const results = await Promise.all(
    [mirrorsIn(folder), mirrorsIn(folder), mirrorsIn(folder)].map((mirrors) => mirrors.fetch(mirror, local(), signal)),
  );
  for (const result of results)
    if (result.outcome === 'failed') expect(result.reason).toBe('Another fetch of the mirror is under way');
  await expect(mirrorsIn(folder).fetch(mirror, local(), signal)).resolves.toEqual({ outcome: 'fetched' });
  const refs = await mirrorsIn(folder).refs(mirror);
  expect(refs.map(({ sha }) => sha).toSorted()).toEqual(
    remote.lines(['for-each-ref', '--format=%(objectname)']).toSorted(),
  );
  expect(() =>
    execFileSync(
      'git',
      ['--git-dir', join(folder, mirror.tenantId, `${mirror.projectId}.git`), 'fsck', '--connectivity-only'],
      { stdio: 'ignore' },
    ),
  ).not.toThrow();
});

test('two imports of one repository at the same time add each commit once', async () => {
  const app = await testApp();
  const { deps, close } = activityDeps(app);
  try {
    const mirrors = mirrorsIn(newFolder());
    const own = { ...deps, git: { ...deps.git, mirrors } };
    const { id: projectId } = await app
      .as(app.owner)
      .post(201, '/api/projects', { identifier: 'acme/twice', platform: 'host-a', defaultBranch: 'main' });
    const mirror = { ...app.tenantKey, projectId };
    const tx = deps.actingAs(systemActor(app.tenantKey, 'test'));
    await mirrors.fetch(mirror, local(), signal);
    const project = await tx((work) => beginFetch(work, projectId));
    if (!project) throw new Error('no project');
    await Promise.all([importFacts(own, mirror, project, local()), importFacts(own, mirror, project, local())]).catch(
      () => importFacts(own, mirror, project, local()),
    );
    const rows = await app.sql<{ sha: string; seq: number }>(
      'select sha, seq from git_commit where project_id = ? order by seq',
      [projectId],
    );
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index));
    expect(rows.map(({ sha }) => sha).toSorted()).toEqual(remote.lines(['rev-list', '--all']).toSorted());
    const packages = await app.sql('select name from git_package where project_id = ? and is_current', [projectId]);
    expect(packages).toHaveLength(3);
  } finally {
    await close();
    await app.close();
  }
});

test('a damaged remote fails with the reason of git, without the path of the repository', async () => {
  const damaged = newRepository();
  try {
    const commit = damaged.commit({ files: { 'a/b.txt': 'b' } });
    const tree = damaged.git(['rev-parse', `${commit}^{tree}`]);
    const object = join(damaged.path, 'objects', tree.slice(0, 2), tree.slice(2));
    chmodSync(object, 0o644);
    writeFileSync(object, 'no object');
    const result = await mirrorsIn(newFolder()).fetch(
      newMirror(),
      { url: damaged.path, credential: undefined },
      signal,
    );
    expect(result).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(/^git found the repository damaged: /),
    });
    expect(result).not.toMatchObject({ reason: expect.stringContaining(tmpdir()) });
    expect((result as { reason: string }).reason).toMatch(new RegExp(`${tree}|inflate`));
  } finally {
    damaged.remove();
  }
});

test('names the commit that changed a line last, and that of the file where there is no such line', async () => {
  const repository = newRepository();
  const path = 'app/classes/Invoice.cls';
  const first = repository.commit({ message: 'Begin', files: { [path]: 'a\nb\n' } });
  const second = repository.commit({ message: 'Change b', files: { [path]: 'a\nc\n' } });
  const other = repository.commit({ message: 'Another file', files: { 'app/:(top)*': 'x' } });
  const mirrors = mirrorsIn(newFolder());
  const mirror = newMirror();
  const at = { url: repository.path, credential: undefined };
  await mirrors.fetch(mirror, at, signal);
  const change = (place: { path?: string; line: number | null }) =>
    mirrors.lastChange(mirror, at, { sha: other, path, ...place }, signal);
  await expect(change({ line: 1 })).resolves.toMatchObject({ sha: first, subject: 'Begin' });
  await expect(change({ line: 2 })).resolves.toMatchObject({ sha: second, subject: 'Change b' });
  await expect(change({ line: 99 })).resolves.toMatchObject({ sha: second, at: expect.stringMatching(/Z$/) });
  await expect(change({ line: null })).resolves.toMatchObject({ sha: second, author: expect.any(String) });
  await expect(change({ path: 'app/:(top)*', line: null })).resolves.toMatchObject({ sha: other });
  await expect(change({ path: 'none', line: 1 })).resolves.toBeUndefined();
  repository.remove();
});
