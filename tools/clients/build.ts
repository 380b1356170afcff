import { createHash } from 'node:crypto';
import { cpSync, existsSync, globSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withBuildLock } from './build-lock.ts';
import { type ClientDocument, clientDocument } from './document.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache/quayside/clients');
const KEPT = 6;

interface Package {
  folder: string;
  /** Files that it is made of, beside what its package has. */
  builtBy: readonly string[];
  /** Writes the package's `dist`; the folder is absolute. */
  build(document: ClientDocument, folder: string): Promise<void>;
  /** Says how large it is. */
  measure(): Promise<string[]>;
}

/** In the order in which they need each other. */
const PACKAGES: readonly Package[] = [
  {
    folder: 'clients/typescript',
    builtBy: ['tools/clients/document.ts', 'tools/clients/build-typescript.ts'],
    build: async (document, folder) =>
      (await import('./build-typescript.ts')).buildTypescriptClient(document, folder, ROOT),
    measure: async () => {
      const { bytes } = await (await import('./size.ts')).bundledSize();
      return [`ten operations of it are ${(bytes / 1024).toFixed(1)} KiB, packed`];
    },
  },
  {
    folder: 'clients/cli',
    builtBy: ['tools/clients/build-cli.ts'],
    build: async (_, folder) => (await import('./build-cli.ts')).buildCli(folder),
    measure: () => Promise.resolve([]),
  },
];

/** Builds each package whose sources, or the service's document, have changed; says which. Only one process does at a time. */
export async function buildClients(say: (line: string) => void): Promise<void> {
  const document = clientDocument();
  await withBuildLock(join(ROOT, 'node_modules/.cache/quayside/clients.lock'), async () => {
    let hash = createHash('sha256').update(JSON.stringify(document)).digest('hex');
    for (const each of PACKAGES) {
      hash = hashOf(each, hash);
      await bring(each, { hash, document, say });
    }
  });
}

/** The hash of what a package is made of: with the versions of its tools, which stand in its package file. */
function hashOf({ folder, builtBy }: Package, earlier: string): string {
  const own = globSync(`${folder}/{package.json,tsconfig*.json,src/**/*.ts}`, { cwd: ROOT });
  const hash = createHash('sha256').update(earlier);
  for (const file of [...own.filter((name) => !name.includes('/generated/')).toSorted(), ...builtBy])
    hash.update(`\0${file}\0`).update(readFileSync(join(ROOT, file)));
  return hash.digest('hex').slice(0, 24);
}

async function bring(
  { folder, build, measure }: Package,
  { hash, document, say }: { hash: string; document: ClientDocument; say: (line: string) => void },
): Promise<void> {
  const dist = join(ROOT, folder, 'dist');
  const mark = join(dist, '.hash');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === hash) return;
  const cached = join(CACHE, `${folder.replaceAll('/', '-')}-${hash}`);
  rmSync(dist, { recursive: true, force: true });
  if (existsSync(join(cached, '.hash'))) return cpSync(cached, dist, { recursive: true });
  const began = performance.now();
  await build(document, join(ROOT, folder));
  writeFileSync(mark, hash);
  rmSync(cached, { recursive: true, force: true });
  cpSync(dist, cached, { recursive: true });
  forgetOld();
  say(`built ${folder} in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  for (const line of await measure()) say(line);
}

/** Only what was built last stays. */
function forgetOld(): void {
  const builtAt = (name: string) => statSync(join(CACHE, name)).mtimeMs;
  const names = readdirSync(CACHE).toSorted((a, b) => builtAt(b) - builtAt(a));
  for (const name of names.slice(KEPT * PACKAGES.length)) rmSync(join(CACHE, name), { recursive: true, force: true });
}
