import { DeployedSource, differences } from '../../../support/deployed-source.ts';
import { newRepository, randomNumbers } from '../../../support/repository.ts';
import { sourceBuilds, sourceOf } from '../../../support/source-builds.ts';

const COMMITS = process.env.DEEP_TESTS ? 40 : 3;
const TIMEOUT_MS = process.env.DEEP_TESTS ? 1_800_000 : 180_000;
const PACKAGES = ['core', 'ui/main'];

/** What may be in either package, each with a number that says how it is now. */
const PARTS: Record<string, (folder: string, state: number) => Record<string, string>> = {
  ...Object.fromEntries(
    ['A', 'B', 'C'].map((name) => [`class ${name}`, (at, state) => sourceOf.apexClass(at, name, `// ${state}`)]),
  ),
  object: (at, state) => sourceOf.object(at, 'Rating__c', `Rating ${state}`),
  'field X': (at, state) => sourceOf.field(at, 'Rating__c', 'X__c', state + 1),
  'field Y': (at, state) => sourceOf.field(at, 'Rating__c', 'Y__c', state + 1),
  'field Z': (at, state) => sourceOf.field(at, 'Account', 'Z__c', state + 1),
  labels: (at, state) =>
    sourceOf.labels(
      at,
      Object.fromEntries(
        [0, 1, 2].filter((bit) => state & (1 << bit)).map((bit) => [`L${at.length}${bit}`, `${state}`]),
      ),
    ),
  bundle: (at, state) => ({
    [`${at}/lwc/stars/stars.js-meta.xml`]: '<LightningComponentBundle/>',
    [`${at}/lwc/stars/stars.js`]: `${state}`,
    ...(state % 2 === 0 && { [`${at}/lwc/stars/stars.html`]: '<p/>' }),
  }),
  archive: (at, state) => ({
    [`${at}/staticresources/pictures.resource-meta.xml`]:
      '<StaticResource><contentType>application/zip</contentType></StaticResource>',
    [`${at}/staticresources/pictures/a.txt`]: 'always',
    ...(state % 3 === 0 && { [`${at}/staticresources/pictures/deep/b.txt`]: `${state}` }),
  }),
};

test(
  'what differs, deployed onto what was before, is the same as all of it: over a series of random commits',
  async () => {
    const random = randomNumbers(7);
    const repository = newRepository();
    const source = sourceBuilds(repository.path);
    /** What is where; labels are in both packages, all else in one at a time. */
    const held = new Map<string, { folder: string; state: number }>();
    const filesNow = () =>
      Object.assign(
        { ...sourceOf.project(PACKAGES.map((path) => ({ path }))) },
        ...[...held].map(([key, { folder, state }]) => PARTS[key.split('@')[0] ?? '']?.(folder, state)),
      ) as Record<string, string>;
    let files: Record<string, string> = {};
    let baseSha: string | null = null;
    const org = new DeployedSource();
    try {
      for (let commit = 0; commit < COMMITS; commit++) {
        for (const part of Object.keys(PARTS))
          for (const key of part === 'labels' ? PACKAGES.map((folder) => `${part}@${folder}`) : [part]) {
            if (commit > 0 && random(4) > 0) continue;
            const folder = key.split('@')[1] ?? PACKAGES[random(2)] ?? '';
            if (commit > 0 && random(3) === 0) held.delete(key);
            else held.set(key, { folder, state: random(8) });
          }
        // Without its own file an object stays as long as one of its parts does.
        if (!held.has('object')) for (const part of ['field X', 'field Y']) held.delete(part);
        const now = filesNow();
        const gone = Object.fromEntries(Object.keys(files).map((path) => [path, null]));
        const commitSha = repository.commit({ files: { ...gone, ...now } });
        files = now;
        const whole = await source.built({ commitSha, baseSha: null });
        const expected = new DeployedSource().deploy(await source.filesOf(whole));
        const delta = await source.built({ commitSha, baseSha });
        expect(delta.form).toBe(baseSha === null ? 'whole' : delta.object === null ? 'nothing' : 'delta');
        if (delta.object !== null) org.deploy(await source.filesOf(delta));
        expect(differences(org, expected)).toEqual([]);
        baseSha = commitSha;
      }
    } finally {
      source.remove();
      repository.remove();
    }
  },
  TIMEOUT_MS,
);
