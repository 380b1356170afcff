import { dirname } from 'node:path';

const LAYERS = new Set(['api', 'domain', 'workflows', 'activities']);

/** Folders on which nearly all tests depend; what else is shared shows in the contract tests. */
const EVERYWHERE = /^(domain\/kernel|api\/http|test\/support|package(-lock)?\.json|jest\.config\.js|tsconfig\.json)\b/;

export interface NeededTests {
  /** Test files and folders, as Jest takes them. */
  folders: string[];
  /** Why all tests are needed, if so. */
  reason?: string;
}

/** The folders of those features' tests in all layers: the folder of a feature has its name wherever it stands. */
export function testFoldersOf(features: readonly string[], testFiles: readonly string[]): string[] {
  const folders = testFiles
    .map((file) => dirname(file))
    .filter((folder) => features.some((name) => `${folder}/`.includes(`/${name}/`)));
  return [...new Set(folders)].toSorted().map((folder) => `${folder}/`);
}

/** The innermost of a file's folders by which a folder of tests is named. */
const featureOf = (path: readonly string[], testFiles: readonly string[]): string | undefined =>
  path
    .slice(0, -1)
    .toReversed()
    .find((name) => testFoldersOf([name], testFiles).length > 0);

/**
 * The tests that a change needs: those of the features whose files differ, in all layers, test files that differ
 * themselves, and the contract tests when routes do.
 * @param changed paths from the root. @param testFiles all of them.
 */
export function featuresOf(changed: readonly string[], testFiles: readonly string[]): NeededTests {
  const everywhere = changed.find((file) => EVERYWHERE.test(file));
  if (everywhere !== undefined) return { folders: [], reason: `nearly all depend on ${everywhere}` };
  const features = new Set<string>();
  const folders = new Set<string>();
  for (const file of changed) {
    const [top = '', ...path] = file.split('/');
    const feature = featureOf(path, testFiles);
    if (LAYERS.has(top) && feature !== undefined) features.add(feature);
    else if (LAYERS.has(top)) folders.add('test/contract/');
    else if (top === 'tools') folders.add('test/tools/');
    else if (top === 'migrations')
      for (const folder of ['test/domain/kernel/data/', 'test/upgrade/']) folders.add(folder);
    if (top === 'api') folders.add('test/contract/');
    if (testFiles.includes(file)) folders.add(file);
  }
  for (const folder of testFoldersOf([...features], testFiles)) folders.add(folder);
  return { folders: [...folders].toSorted() };
}
