import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, normalize } from 'node:path';

/** What a program loads, as paths from the root. */
export interface Loaded {
  files: string[];
  /** Folders of packages, each with what it depends on in turn. */
  packages: string[];
}

/** Imports that are left without types, static ones and `import()` of a literal. */
const IMPORT = /(?:\bfrom|\bimport\(|^import)\s*'([^']+)'/gm;
const OWN = /^\.{1,2}\//;

/** What a program of this service loads, whenever that is: what its files import, and their packages. */
export function loadedBy(entry: string, root: string): Loaded {
  const files = new Set<string>();
  const names = new Set<string>();
  const follow = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    const code = stripTypeScriptTypes(readFileSync(join(root, file), 'utf8'));
    for (const [, name = ''] of code.matchAll(IMPORT)) {
      if (OWN.test(name)) follow(normalize(join(dirname(file), name)));
      else if (!name.startsWith('node:')) names.add(packageOf(name));
    }
  };
  follow(entry);
  return { files: [...files].toSorted(), packages: packagesOf([...names], root) };
}

/** `@mikro-orm/core` of `@mikro-orm/core/file.js`. */
const packageOf = (name: string): string => name.split('/', name.startsWith('@') ? 2 : 1).join('/');

interface Manifest {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/** Optional ones that are not installed are left out. */
function packagesOf(names: readonly string[], root: string): string[] {
  const found = new Set<string>();
  const follow = (name: string, from: string): void => {
    const folder = folderOf(name, from, root);
    if (folder === undefined || found.has(folder)) return;
    found.add(folder);
    const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;
    const { dependencies, optionalDependencies, peerDependencies } = manifest;
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      follow(next, folder);
  };
  for (const name of names) follow(name, '');
  return [...found].toSorted();
}

/** Where Node looks for a package: beside who asks for it, then in each folder above. */
function folderOf(name: string, from: string, root: string): string | undefined {
  for (let place = from; ; place = place === '' ? '' : dirname(place).replace(/^\.$/, '')) {
    const folder = join(place, 'node_modules', name);
    if (existsSync(join(root, folder, 'package.json'))) return folder;
    if (place === '') return undefined;
  }
}
