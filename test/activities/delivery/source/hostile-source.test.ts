import { existsSync, readdirSync, renameSync } from 'node:fs';
import { eventually } from '../../../support/eventually.ts';
import { newRepository, type TestRepository } from '../../../support/repository.ts';
import { sourceBuilds, sourceOf } from '../../../support/source-builds.ts';

const SECRET = 'QS_SOURCE_TEST_SECRET';
let repository: TestRepository;
let source: ReturnType<typeof sourceBuilds>;
beforeEach(() => {
  repository = newRepository();
  source = sourceBuilds(repository.path);
  process.env[SECRET] = 'hunter2';
});
afterEach(() => {
  source.remove();
  repository.remove();
});

const PROJECT = sourceOf.project([{ path: 'app' }]);
const CLASS = sourceOf.apexClass('app', 'Rater');
const META = '<ApexClass xmlns="http://soap.sforce.com/2006/04/metadata"><status>Active</status></ApexClass>';

/** A commit of files, and of entries that git writes only when it is made to. */
function commitOf(
  files: Readonly<Record<string, string>>,
  entries: readonly [mode: string, path: string, content: string][] = [],
): string {
  repository.commit({ files, from: null });
  if (entries.length === 0) return repository.tip('main') ?? '';
  const blob = (content: string) => repository.git(['hash-object', '-w', '--stdin'], content);
  const lines = entries.map(([mode, path, content]) => {
    const kind = mode === '160000' ? content : blob(content);
    return `M ${mode} ${kind} "${path.replaceAll('\\', '\\\\')}"\n`;
  });
  repository.git(
    ['fast-import', '--quiet', '--force'],
    `commit refs/heads/main\ncommitter D <d@example.com> 1800000000 +0000\ndata 1\nx\nfrom refs/heads/main^0\n${lines.join('')}\n`,
  );
  return repository.tip('main') ?? '';
}
const refusalOf = async (commitSha: string) => {
  const answer = await source.build({ commitSha, baseSha: null });
  expect(readdirSync(source.places)).toEqual([]);
  return answer.isOk ? answer : answer.reason;
};

test('links, submodules and names that a deployment cannot have are refused by name, but where they are no source', async () => {
  const files = { ...PROJECT, ...CLASS };
  const refusal = async (mode: string, path: string, content = 'x') =>
    refusalOf(commitOf(files, [[mode, path, content]]));
  await expect(refusal('120000', 'app/classes/Passwd.cls', '/etc/passwd')).resolves.toMatch(
    /^"app\/classes\/Passwd.cls" is a symbolic link/,
  );
  await expect(refusal('160000', 'app/other', 'a'.repeat(40))).resolves.toMatch(/is a submodule/);
  await expect(refusal('100644', String.raw`app/classes/..\..\x.cls`)).resolves.toMatch(/has characters/);
  await expect(refusal('100644', `app/${'d/'.repeat(60)}x.cls`)).resolves.toMatch(/too long or too deep/);
  const outside = commitOf(files, [['120000', 'docs/link', '/etc/passwd']]);
  await expect(source.built({ commitSha: outside, baseSha: null })).resolves.toMatchObject({ form: 'whole' });
});

test('a project file that leads out of the repository, or is none, is refused', async () => {
  const refusal = (projectFile: string) => refusalOf(commitOf({ 'sfdx-project.json': projectFile, ...CLASS }));
  await expect(refusal('{')).resolves.toBe('sfdx-project.json is not JSON');
  await expect(refusal('{"packageDirectories":[]}')).resolves.toBe('sfdx-project.json lists no packageDirectories');
  for (const path of ['../..', '/etc', 'app/../../..'])
    await expect(refusal(JSON.stringify({ packageDirectories: [{ path }] }))).resolves.toMatch(
      /outside of the repository/,
    );
  await expect(refusalOf(commitOf(CLASS))).resolves.toBe('The commit has no sfdx-project.json');
  // Read as if it was empty, it would let through what it leaves out.
  const ignored = { ...PROJECT, ...CLASS, '.forceignore': `${'x'.repeat(1_050_000)}\n**/Rater*\n` };
  await expect(refusalOf(commitOf(ignored))).resolves.toMatch(/^.forceignore is larger than 1 MB/);
  const escaping = {
    packageDirectories: [{ path: 'app' }],
    registryCustomizations: {
      types: { bad: { id: 'bad', name: 'Bad', directoryName: '../../../../escaped', suffix: 'bad' } },
      suffixes: { bad: 'bad' },
    },
  };
  const commitSha = commitOf({ 'sfdx-project.json': JSON.stringify(escaping), 'app/x.bad-meta.xml': '<Bad/>' });
  await expect(refusalOf(commitSha)).resolves.toMatch(/path traversal|resolve outside/);
});

test('replacements by variables and files are not made, but told of; those of the environment are made as they are', async () => {
  const project = sourceOf.project([{ path: 'app' }], {
    replacements: [
      { filename: 'app/classes/Rater.cls', stringToReplace: '%HOST%', replaceWithEnv: SECRET },
      { filename: 'app/classes/Rater.cls', stringToReplace: '%FILE%', replaceWithFile: '/etc/passwd' },
      { glob: '**', regexToReplace: '(a+)+$', replaceWithEnv: 'HOME' },
    ],
  });
  const commitSha = commitOf({
    ...project,
    ...sourceOf.apexClass('app', 'Rater', "String a = '%HOST%', b = '%FILE%';"),
    ...sourceOf.apexClass('app', 'Other', "String a = '%HOST%';"),
  });
  const replacements = [{ find: '%HOST%', replaceWith: "$& $' env", files: ['app/classes/Rater.cls'] }];
  const build = await source.built({ commitSha, baseSha: null, replacements });
  expect(build.warnings).toEqual([
    expect.stringMatching(/^sfdx-project.json replaces "%FILE%" in "app\/classes\/Rater.cls" by a variable or file/),
    expect.stringMatching(/^sfdx-project.json replaces a pattern in "\*\*" by/),
  ]);
  const files = await source.filesOf(build);
  expect(files.get('classes/Rater.cls')?.toString()).toContain("a = '$& $' env', b = '%FILE%'");
  expect(files.get('classes/Other.cls')?.toString()).toContain("a = '%HOST%'");
  for (const content of files.values()) expect(content.toString()).not.toMatch(/hunter2|root:/);
});

test('XML that expands, is broken or enormous is refused in words', async () => {
  const object = (content: string) => ({ ...PROJECT, 'app/objects/A__c/A__c.object-meta.xml': content });
  const entities = Array.from(
    { length: 12 },
    (_, level) => `<!ENTITY e${level + 1} "${`&e${level};`.repeat(10)}">`,
  ).join('');
  const bomb = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "boom">${entities}]><CustomObject><label>&e12;</label></CustomObject>`;
  await expect(refusalOf(commitOf(object(bomb)))).resolves.toMatch(/A__c.object-meta.xml declares a document type/);
  await expect(refusalOf(commitOf(object('<CustomObject><label>')))).resolves.toMatch(
    /app\/objects\/A__c\/A__c.object-meta.xml is no well-formed XML \(line 1\)/,
  );
  const huge = `<CustomObject>${'<label>x</label>'.repeat(1_500_000)}</CustomObject>`;
  await expect(refusalOf(commitOf(object(huge)))).resolves.toMatch(/A__c.object-meta.xml is larger than 20 MB/);
  await expect(refusalOf(commitOf({ ...PROJECT, 'app/classes/X.unknownthing-meta.xml': META }))).resolves.toMatch(
    /X.unknownthing-meta.xml: Could not infer a metadata type/,
  );
});

test('memory and time of a conversion are bounded', async () => {
  const label = `<label>${'x'.repeat(100)}</label>`;
  const object = `<CustomObject>${label.repeat(150_000)}</CustomObject>`;
  const commitSha = commitOf({ ...PROJECT, 'app/objects/A__c/A__c.object-meta.xml': object });
  const bounded = async (options: object) => {
    const small = sourceBuilds(repository.path, options);
    const answer = await small.build({ commitSha, baseSha: null });
    expect(readdirSync(small.places)).toEqual([]);
    small.remove();
    return answer;
  };
  await expect(bounded({ timeoutMs: 300 })).resolves.toEqual({
    isOk: false,
    reason: 'The conversion of the source did not end within 0.3 s',
  });
  await expect(bounded({ heapMb: 60 })).resolves.toEqual({
    isOk: false,
    reason: 'The conversion of the source ran out of memory',
  });
});

test('a file that no deployment takes, and replacements that make much of little, are refused', async () => {
  const commitSha = commitOf({ ...PROJECT, ...sourceOf.apexClass('app', 'Rater', 'a'.repeat(10_000)) });
  const small = sourceBuilds(repository.path, { outputMaxBytes: 1024 * 1024 });
  const replacing = (find: string) =>
    small.build({ commitSha, baseSha: null, replacements: [{ find, replaceWith: 'b'.repeat(1_000) }] });
  await expect(small.build({ commitSha, baseSha: null })).resolves.toMatchObject({ isOk: true });
  await expect(replacing('a')).resolves.toMatchObject({ reason: expect.stringMatching(/would have more than 1 MB/) });
  await expect(replacing('')).resolves.toEqual({ isOk: false, reason: 'A replacement has no text to find' });
  small.remove();
  const enormous = commitOf({ ...PROJECT, ...sourceOf.apexClass('app', 'Rater', ' '.repeat(51_000_000)) });
  await expect(refusalOf(enormous)).resolves.toMatch(/app\/classes\/Rater.cls is larger than 50 MB/);
});

test('a list of ignored files that is a link is refused; one that cannot be fetched now fails to be tried again', async () => {
  const files = { ...PROJECT, ...CLASS };
  await expect(refusalOf(commitOf(files, [['120000', '.forceignore', 'app']]))).resolves.toMatch(
    /^\.forceignore is a symbolic link/,
  );
  const unread = commitOf({ ...files, '.forceignore': '**/classes/**\n' });
  repository.commit({ branch: 'other', files, from: null });
  await source.built({ commitSha: repository.tip('other') ?? '', baseSha: null });
  // The mirror has the commit, and not yet what is in its list.
  renameSync(repository.path, `${repository.path}.away`);
  const away = source.build({ commitSha: unread, baseSha: null });
  await expect(away).rejects.toThrow('.forceignore could not be read');
  renameSync(`${repository.path}.away`, repository.path);
  await expect(source.built({ commitSha: unread, baseSha: null })).resolves.toMatchObject({ form: 'nothing' });
});

test('a build that is cancelled ends with its process and folder, and gives its turn to the next', async () => {
  const commitSha = commitOf({ ...PROJECT, ...CLASS });
  const one = sourceBuilds(repository.path, { atOnce: 1 });
  const stop = new AbortController();
  const first = one.build({ commitSha, baseSha: null }, stop.signal);
  const places = () => (existsSync(one.places) ? readdirSync(one.places) : []);
  await eventually(
    async () => places(),
    (names) => names.length > 0,
  );
  const waiting = one.build({ commitSha, baseSha: null });
  stop.abort(new Error('cancelled'));
  await expect(first).rejects.toThrow('cancelled');
  await expect(waiting).resolves.toMatchObject({ isOk: true });
  expect(places()).toEqual([]);
  one.remove();
});
