import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sayTally } from '../../tools/demo/changes.ts';
import { startCrmSimulator } from '../../tools/demo/crm-simulator.ts';
import { FIXTURE_HOTFIX, makeFixture } from '../../tools/demo/fixture.ts';
import { findHotfix } from '../../tools/demo/hotfix.ts';
import { findInstance } from '../../tools/demo/instance.ts';
import { packagesOfManifest } from '../../tools/demo/manifest-rules.ts';
import { git, listed, readRepository } from '../../tools/demo/repository.ts';
import { makeSource } from '../../tools/demo/source-fixture.ts';
import { milestoneName, versionOfTag } from '../../tools/demo/tag-rules.ts';
import { createVersions } from '../../tools/demo/versions.ts';
import { lockInstance } from '../../tools/instance-lock.ts';
import { newRepository, removeRepositories } from '../support/repository.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  removeRepositories();
});
const fixture = async () => {
  const path = await makeFixture();
  folders.push(dirname(path));
  return path;
};
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'quayside-test-'));
  folders.push(folder);
  return folder;
};

describe('packages of sfdx-project.json', () => {
  const packagesIn = (manifest: object) => packagesOfManifest(JSON.stringify(manifest));

  test('come with their folders, versions and dependencies, also by alias and id', () => {
    expect(
      packagesIn({
        packageDirectories: [
          { path: './base/', package: 'Base', versionNumber: '57.0.0.NEXT' },
          {
            path: 'app',
            package: 'App',
            versionNumber: '57.1.0.4',
            dependencies: [
              { package: 'Base@57.0.0-3' },
              { package: '04t1' },
              { package: 'Other', versionNumber: '1.0.0.LATEST' },
            ],
          },
          { path: 'unpackaged' },
        ],
        packageAliases: { Base: '0Ho1', 'Base@57.0.0-3': '04t3', 'Nebula@4.1.0': '04t1' },
      }),
    ).toEqual([
      { name: 'Base', path: 'base', versionNumber: '57.0.0', dependencies: [] },
      { name: 'App', path: 'app', versionNumber: '57.1.0.4', dependencies: ['Base', 'Nebula@4.1.0', 'Other'] },
    ]);
  });

  test('are the folders where none has a name, by their paths where two end alike', () => {
    const directories = [{ path: 'force-app' }, { path: 'core/main' }, { path: 'ui/main/' }];
    expect(packagesIn({ packageDirectories: directories })?.map(({ name, path }) => [name, path])).toEqual([
      ['force-app', 'force-app'],
      ['core/main', 'core/main'],
      ['ui/main', 'ui/main'],
    ]);
  });

  test.each(['', '{', 'null', '{}', '{"packageDirectories":{}}'])('%j is no manifest', (text) => {
    expect(packagesOfManifest(text)).toBeUndefined();
  });
});

test.each([
  ['v1.2.3', { packageName: undefined, version: '1.2.3' }],
  ['1.2', { packageName: undefined, version: '1.2' }],
  ['rel/3.98', { packageName: undefined, version: '3.98' }],
  ['uat/3.236-Beta_2', { packageName: undefined, version: '3.236-Beta_2' }],
  ['app@1.2.3-4', { packageName: 'app', version: '1.2.3-4' }],
  ['app_v1.2.3', { packageName: 'app', version: '1.2.3' }],
  ['@acme/app@1.2.3', { packageName: '@acme/app', version: '1.2.3' }],
  ['other@1.2.3-4', undefined],
  ['before-the-move', undefined],
  ['v2', undefined],
])('the tag %s is read', (tag, expected) => {
  expect(versionOfTag(tag, new Set(['app', '@acme/app']))).toEqual(expected);
});

test.each([
  [['uat/3.236-Beta_1', 'rel/3.236'], 'rel/3.236'],
  [['rel/3.236', 'uat/3.236-Beta_1'], 'rel/3.236'],
  [['app@1.0.0-1', 'lib@1.0.0-2'], 'lib@1.0.0-2'],
  [['app@1.0.0-1', 'v1.0.0'], 'v1.0.0'],
  [['before-the-move'], 'before-the-move'],
])('a commit with the tags %j is named %s', (tags, name) => {
  expect(milestoneName(tags, new Set(['app', 'lib']))).toBe(name);
});

test('the source that is deployed is the same each time, in two commits', async () => {
  const [path, other] = [await makeSource(), await makeSource()];
  folders.push(dirname(path), dirname(other));
  const history = await git(path, 'rev-list', 'main');
  expect(history).toHaveLength(2);
  await expect(git(other, 'rev-list', 'main')).resolves.toEqual(history);
  const files = await git(path, 'ls-tree', '-r', '--name-only', 'main');
  expect(files.filter((file) => file.endsWith('.cls'))).toEqual([
    'force-app/main/default/classes/Berth.cls',
    'force-app/main/default/classes/Tariff.cls',
  ]);
});

describe('the generated repository', () => {
  test('is the same each time: 40 commits with merges, five versions and a hotfix that came too late for the last', async () => {
    const path = await fixture();
    const repository = await readRepository(path, undefined);
    expect(repository).toMatchObject({ defaultBranch: 'main', commits: 38, packagesFrom: 'sfdx-project.json' });
    expect(repository.packages.map(({ name }) => name)).toEqual([
      'HarbourCore',
      'HarbourStyles',
      'HarbourPricing',
      'HarbourBooking',
    ]);
    expect(repository.milestones.map(({ releaseName }) => releaseName)).toEqual([
      'v1.0.0',
      'v1.1.0',
      'v1.2.0',
      'v1.3.0',
      'v1.4.0',
    ]);
    await expect(git(path, 'rev-list', '--all', '--count')).resolves.toEqual(['40']);
    expect((await git(path, 'rev-list', '--merges', 'main')).length).toBeGreaterThan(5);
    const { hotfix, path: used } = await findHotfix(repository);
    expect({ hotfix, used }).toMatchObject({ hotfix: { branch: FIXTURE_HOTFIX, isMade: false }, used: path });
    await expect(git(await fixture(), 'rev-parse', 'main', FIXTURE_HOTFIX)).resolves.toEqual(
      await git(path, 'rev-parse', 'main', FIXTURE_HOTFIX),
    );
  });

  test('gives a package another version when its folder is another', async () => {
    const repository = await readRepository(await fixture(), undefined);
    const versionsAt = createVersions(repository);
    let before: Record<string, string> = {};
    let from: string | undefined;
    for (const milestone of repository.milestones) {
      const versions = await versionsAt(milestone);
      for (const each of repository.packages) {
        const changes = from === undefined ? ['all'] : await listed(repository.path, each, from, milestone.commitSha);
        expect(versions[each.name] !== before[each.name]).toBe(changes.length > 0);
      }
      [before, from] = [versions, milestone.commitSha];
    }
  });
});

test('a repository without tags and hotfixes has candidates at equal distances, and gets a hotfix in a copy', async () => {
  const remote = newRepository();
  remote.git(['symbolic-ref', 'HEAD', 'refs/heads/develop']);
  for (let index = 0; index < 12; index++)
    remote.commit({ branch: 'develop', files: { 'force-app/a': String(index) } });
  remote.commit({
    branch: 'develop',
    files: { 'sfdx-project.json': '{"packageDirectories":[{"path":"force-app","default":true}]}' },
  });
  const repository = await readRepository(remote.path, undefined);
  expect(repository).toMatchObject({ defaultBranch: 'develop', packages: [{ name: 'force-app' }] });
  expect(repository.milestones).toHaveLength(5);
  expect(repository.milestones.at(-1)?.commitSha).toBe(remote.git(['rev-parse', 'develop']));
  const refs = remote.git(['for-each-ref']);
  const { path, hotfix } = await findHotfix(repository);
  folders.push(dirname(path));
  expect(hotfix).toMatchObject({ branch: 'hotfix/demo', isMade: true });
  expect(remote.git(['for-each-ref'])).toBe(refs);
  const [newest, package0] = [repository.milestones.at(-1)?.commitSha ?? '', { path: 'force-app' }];
  await expect(listed(path, package0, newest, 'hotfix/demo')).resolves.toEqual([hotfix?.commitSha]);
  await expect(listed(path, package0, 'hotfix/demo', newest)).resolves.not.toHaveLength(0);
});

test('a clone in which somebody works on a branch is used as its remote is', async () => {
  const remote = newRepository();
  remote.git(['symbolic-ref', 'HEAD', 'refs/heads/trunk']);
  const first = remote.commit({ branch: 'trunk', files: { 'app/a': '0' } });
  remote.git(['tag', 'v1.0.0', first]);
  remote.git(['tag', 'v1.1.0', remote.commit({ branch: 'trunk', files: { 'app/a': '1' } })]);
  remote.commit({ branch: 'hotfix/1.0.1', from: first, files: { 'app/b': '1' } });
  const clone = join(newFolder(), 'harbour');
  await git(remote.path, 'clone', '--quiet', remote.path, clone);
  await git(clone, 'checkout', '--quiet', '-b', 'feature/x');
  await git(clone, 'branch', '--quiet', '-D', 'trunk');
  const refs = await git(clone, 'for-each-ref');
  const repository = await readRepository(clone, undefined);
  expect(repository).toMatchObject({ defaultBranch: 'trunk', commits: 2, original: clone, name: 'harbour' });
  const { path, hotfix } = await findHotfix(repository);
  folders.push(dirname(path));
  expect(hotfix).toMatchObject({ branch: 'hotfix/1.0.1', isMade: false });
  await expect(git(path, 'rev-parse', 'refs/heads/hotfix/1.0.1')).resolves.toEqual([hotfix?.commitSha]);
  await expect(git(clone, 'for-each-ref')).resolves.toEqual(refs);
});

test('changelogs that could not be held against git are counted, with the reason', () => {
  const lines: string[] = [];
  const notHeld = new Map([
    ['the package is new', ['ui from a to b']],
    ['unknown_commit', ['w', 'x', 'y', 'z']],
  ]);
  sayTally({ changelogs: 7, equal: 2, different: [], notHeld }, (text) => lines.push(text));
  expect(lines).toEqual([
    '2 of 7 changelogs of packages list exactly the commits that git log lists',
    '  1 not held against git log, the package is new: ui from a to b',
    '  4 not held against git log, unknown_commit: w, x, y and 1 more',
  ]);
});

test('tags of packages give their versions, and other packages keep theirs', async () => {
  const remote = newRepository();
  const manifest = {
    packageDirectories: ['app', 'lib'].map((name) => ({ path: name, package: name, versionNumber: '1.0.0.NEXT' })),
  };
  remote.commit({
    files: { 'sfdx-project.json': JSON.stringify(manifest), 'app/a': '0', 'lib/a': '0' },
    time: 1_772_438_400,
  });
  remote.git(['tag', 'app@1.0.0-1', 'main']);
  remote.git(['tag', 'lib_v1.0.0.7', 'main']);
  remote.commit({ files: { 'app/a': '1' }, time: 1_772_448_400 });
  remote.git(['tag', 'app@1.1.0-2', 'main']);
  const repository = await readRepository(remote.path, undefined);
  expect(repository.milestones.map(({ releaseName }) => releaseName)).toEqual(['lib_v1.0.0.7', 'app@1.1.0-2']);
  const versionsAt = createVersions(repository);
  const versions = [];
  for (const milestone of repository.milestones) versions.push(await versionsAt(milestone));
  expect(versions).toEqual([
    { app: '1.0.0-1', lib: '1.0.0.7' },
    { app: '1.1.0-2', lib: '1.0.0.7' },
  ]);
});

describe('the running service', () => {
  const env = { DEMO_EMAIL: 'owner@example.com', DEMO_PASSWORD: 'secret' };

  test('is found by its data directory', async () => {
    const dataDir = newFolder();
    const lock = await lockInstance(dataDir);
    expect(() => findInstance(undefined, { ...env, DATA_DIR: dataDir })).toThrow(/still starting/);
    lock.noteUrl('http://127.0.0.1:4711');
    expect(() => findInstance(undefined, { DATA_DIR: dataDir })).toThrow(/owner\.json.*DEMO_EMAIL/);
    writeFileSync(join(dataDir, 'owner.json'), '{"email":"a@example.com","password":"b"}');
    expect(findInstance(undefined, { DATA_DIR: dataDir, PORT: '3' })).toMatchObject({
      url: 'http://127.0.0.1:4711',
      credentials: { email: 'a@example.com', password: 'b' },
    });
    expect(findInstance('http://other:1', { ...env, DATA_DIR: dataDir })).toMatchObject({
      url: 'http://other:1',
      credentials: { email: 'owner@example.com' },
    });
    lock.release();
    expect(() => findInstance(undefined, { DATA_DIR: dataDir })).toThrow(/npm start, or set DATA_DIR/);
  });

  test('is that of PORT when the data directory has none', () => {
    expect(findInstance(undefined, { ...env, DATA_DIR: newFolder(), PORT: '4000' })).toMatchObject({
      url: 'http://127.0.0.1:4000',
    });
  });
});

test('the simulator of CRM orgs runs by itself, with orgs of other names each time, and ends', async () => {
  const crm = await startCrmSimulator('a1');
  const [production, sandbox] = [crm.org('acme'), crm.org('acme-uat')];
  expect(production.username).toBe('admin@acme-a1.example');
  expect(sandbox.username).toBe('admin@acme-a1.example.uat');
  const [, host = ''] = production.authUrl.split('@');
  await crm.setLimit(production, 'DailyApiRequests', 90_000);
  await crm.writeFile(production, 'classes/A.cls', 'class A {}', 'Bo Builder');
  await expect(fetch(`http://${host}/services/data`)).resolves.toMatchObject({ status: 200 });
  expect(() => crm.org('nobody')).toThrow(/no org nobody/);
  await expect(crm.removeFile({ ...production, name: 'nobody' }, 'classes/A.cls')).rejects.toThrow(/no simulated org/);
  await crm.close();
  await expect(fetch(`http://${host}/services/data`)).rejects.toThrow(/fetch failed/);
});
