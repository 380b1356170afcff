import { readdirSync } from 'node:fs';
import { newRepository, type TestRepository } from '../../../support/repository.ts';
import { membersOf, sourceBuilds, sourceOf } from '../../../support/source-builds.ts';

let repository: TestRepository;
let source: ReturnType<typeof sourceBuilds>;
beforeEach(() => {
  repository = newRepository();
  source = sourceBuilds(repository.path);
});
afterEach(() => {
  source.remove();
  repository.remove();
});

const gone = (files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.keys(files).map((path) => [path, null]));
const namesOf = (components: readonly { type: string; fullName: string }[]) =>
  components.map(({ type, fullName }) => `${type} ${fullName}`).toSorted();
const PACKAGES = [
  { path: 'core', package: 'Core' },
  { path: './ui/', package: 'Ui', default: true },
];
const STARS = 'ui/main/lwc/stars/stars';
const FIRST = {
  ...sourceOf.project(PACKAGES),
  '.forceignore': '**/__tests__/**\n',
  'README.md': 'About all',
  'core/notes.txt': 'Not deployed',
  ...sourceOf.apexClass('core/main', 'Rater'),
  ...sourceOf.apexClass('core/main', 'Unused'),
  ...sourceOf.object('core/main', 'Rating__c', 'Rating'),
  ...sourceOf.field('core/main', 'Rating__c', 'Stars__c'),
  ...sourceOf.field('core/main', 'Rating__c', 'Old__c'),
  ...sourceOf.field('ui/main', 'Rating__c', 'Colour__c'),
  ...sourceOf.labels('core/main', { Good: 'Good', Bad: 'Bad' }),
  [`${STARS}.js`]: 'export default 1;',
  [`${STARS}.js-meta.xml`]: '<LightningComponentBundle xmlns="http://soap.sforce.com/2006/04/metadata"/>',
  'ui/main/lwc/stars/__tests__/stars.test.js': 'ignored',
};

test('all of a commit: packages in one zip, with parts of objects together and what is ignored left out', async () => {
  const commitSha = repository.commit({ files: FIRST });
  const build = await source.built({ commitSha, baseSha: null });
  expect(build).toMatchObject({
    form: 'whole',
    reason: 'It is not known what the environment ran',
    deletions: [],
    pendingDeletions: [],
    warnings: ['Files that belong to no component are not deployed: core/notes.txt'],
  });
  expect(namesOf(build.components)).toEqual([
    'ApexClass Rater',
    'ApexClass Unused',
    'CustomField Rating__c.Colour__c',
    'CustomField Rating__c.Old__c',
    'CustomField Rating__c.Stars__c',
    'CustomLabels CustomLabels',
    'CustomObject Rating__c',
    'LightningComponentBundle stars',
  ]);
  expect(build.components).toContainEqual({
    type: 'ApexClass',
    fullName: 'Rater',
    path: 'core/main/classes/Rater.cls',
    package: 'Core',
  });
  const files = await source.filesOf(build);
  expect([...files.keys()]).toEqual([
    'package.xml',
    'classes/Rater.cls',
    'classes/Rater.cls-meta.xml',
    'classes/Unused.cls',
    'classes/Unused.cls-meta.xml',
    'labels/CustomLabels.labels',
    'lwc/stars/stars.js',
    'lwc/stars/stars.js-meta.xml',
    'objects/Rating__c.object',
  ]);
  expect(membersOf(files.get('package.xml'))).toEqual(
    [...namesOf(build.components), 'CustomLabel Bad', 'CustomLabel Good'].toSorted(),
  );
  expect(files.get('package.xml')?.toString()).toContain('<version>64.0</version>');
  for (const part of ['Stars__c', 'Old__c', 'Colour__c', '<label>Rating</label>'])
    expect(files.get('objects/Rating__c.object')?.toString()).toContain(part);
  expect(readdirSync(source.places)).toEqual([]);
  // Built again, the zip is the same to the byte, and stands under the same key.
  await expect(source.built({ commitSha, baseSha: null })).resolves.toEqual(build);
  const one = await source.built({ commitSha, baseSha: null, packages: ['Ui'] });
  expect(namesOf(one.components)).toEqual(['CustomField Rating__c.Colour__c', 'LightningComponentBundle stars']);
  await expect(source.build({ commitSha, baseSha: null, packages: ['Ui', 'Server'] })).resolves.toEqual({
    isOk: false,
    reason: 'sfdx-project.json lists no package or directory Server',
  });
});

test('what differs: components, one part of an object alone, deletions of parts and labels', async () => {
  const baseSha = repository.commit({ files: FIRST });
  const commitSha = repository.commit({
    files: {
      ...gone(sourceOf.apexClass('core/main', 'Unused')),
      ...gone(sourceOf.field('core/main', 'Rating__c', 'Old__c')),
      ...sourceOf.field('core/main', 'Rating__c', 'Stars__c', 20),
      ...sourceOf.labels('core/main', { Good: 'Very good', Fair: 'Fair' }),
      [`${STARS}.css`]: '.a {}',
      // Moved to the other package: still there.
      ...gone(sourceOf.apexClass('core/main', 'Rater')),
      ...sourceOf.apexClass('ui/main', 'Rater'),
      'README.md': 'About more',
    },
  });
  const build = await source.built({ commitSha, baseSha });
  expect(build).toMatchObject({ form: 'delta', pendingDeletions: [] });
  expect(build.reason).toBe(`It is what differs from ${baseSha.slice(0, 8)}, which the environment ran`);
  expect(namesOf(build.components)).toEqual([
    'ApexClass Rater',
    'CustomField Rating__c.Stars__c',
    'CustomLabels CustomLabels',
    'LightningComponentBundle stars',
  ]);
  const deleted = ['ApexClass Unused', 'CustomField Rating__c.Old__c', 'CustomLabel Bad'];
  expect(namesOf(build.deletions)).toEqual(deleted);
  const files = await source.filesOf(build);
  expect(membersOf(files.get('destructiveChangesPost.xml'))).toEqual(deleted);
  expect(membersOf(files.get('package.xml'))).toEqual([
    'ApexClass Rater',
    'CustomField Rating__c.Stars__c',
    'CustomLabel Fair',
    'CustomLabel Good',
    'CustomLabels CustomLabels',
    'LightningComponentBundle stars',
  ]);
  expect(files.get('lwc/stars/stars.js')?.toString()).toBe('export default 1;');

  const kept = await source.built({ commitSha, baseSha, deletions: false });
  expect(kept.deletions).toEqual([]);
  expect(namesOf(kept.pendingDeletions)).toEqual(deleted);
  expect((await source.filesOf(kept)).has('destructiveChangesPost.xml')).toBe(false);
  // A label that came back is not deleted any more.
  const later = repository.commit({ files: sourceOf.labels('core/main', { Good: 'Very good', Bad: 'Bad' }) });
  const next = await source.built({ commitSha: later, baseSha: commitSha, pending: kept.pendingDeletions });
  expect(namesOf(next.deletions)).toEqual(['ApexClass Unused', 'CustomField Rating__c.Old__c', 'CustomLabel Fair']);
  await expect(source.built({ commitSha: later, baseSha: later })).resolves.toMatchObject({
    form: 'nothing',
    object: null,
    components: [],
  });

  // Back again: what came is taken away, and what went comes.
  const back = await source.built({ commitSha: baseSha, baseSha: commitSha, isRollback: true });
  expect(back.form).toBe('delta');
  expect(namesOf(back.deletions)).toEqual(['CustomLabel Fair']);
  expect(namesOf(back.components)).toContain('ApexClass Unused');
});
