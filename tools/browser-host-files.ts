import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadedBy } from './loaded-files.ts';
import { exitWith, OperatorError } from './operator-error.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ENTRY = 'activities/browser-host/main.ts';

/**
 * `node tools/browser-host-files.ts FOLDER`: copies what a browser host loads there, and nothing else of the service, for
 * the image of hosts.
 */
function main(): void {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new OperatorError('Name the folder to copy to.');
  const { files, packages } = loadedBy(ENTRY, ROOT);
  for (const file of [...files, 'package.json']) cpSync(join(ROOT, file), join(folder, file));
  for (const each of packages) {
    // Packages of its own that a package has are listed by themselves.
    const isOwn = (path: string) => !path.slice(join(ROOT, each).length).startsWith('/node_modules');
    cpSync(join(ROOT, each), join(folder, each), { recursive: true, filter: isOwn });
  }
  console.log(`${files.length} files and ${packages.length} packages`);
}

try {
  main();
} catch (error) {
  exitWith(error);
}
