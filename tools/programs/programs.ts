import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hold } from './hold.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUNDLER = fileURLToPath(new URL('bundle-programs.ts', import.meta.url));
const ESBUILD = join(ROOT, 'node_modules/esbuild');
const KEPT = join(ROOT, 'node_modules/.cache/quayside/programs');

/** What `npm start` and the tests start as processes of their own, by its source. */
export const PROGRAMS = ['api/main.ts', 'activities/main.ts', 'activities/browser-host/main.ts'] as const;
export type Program = (typeof PROGRAMS)[number];

/** All that bundles can depend on; of packages, what is installed. */
const SOURCE_FOLDERS = ['activities', 'api', 'domain', 'workflows'];
const BUNDLING = ['bundle-programs', 'line-table', 'programs', 'stacks'].map((name) => `tools/programs/${name}.ts`);
const OTHER_SOURCES = ['package-lock.json', 'node_modules/.package-lock.json', 'tsconfig.json', ...BUNDLING];

/** What editors keep beside sources: links to nowhere, and drafts. */
const isHidden = (name: string): boolean => name.split(sep).some((part) => part.startsWith('.'));

/**
 * The folder of the bundles of these sources, named by their digest; it need not exist. Bundles name the places of their
 * sources, so each checkout has its own.
 */
export function bundlesFolder(root = ROOT, kept = KEPT): string {
  const sources = SOURCE_FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !isHidden(name))
      .map((name) => join(folder, name)),
  );
  const digest = createHash('sha256').update(root);
  for (const file of [...sources.toSorted(), ...OTHER_SOURCES])
    digest.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  return join(kept, digest.digest('hex').slice(0, 16));
}

/**
 * The folder of the bundles of today's sources, which stays as long as this process lives; undefined while there are none.
 */
export function findBundles(): string | undefined {
  try {
    const folder = bundlesFolder();
    return hold(folder) ? folder : undefined;
  } catch {
    // Not all that would be bundled is there.
    return undefined;
  }
}

/**
 * Makes the bundles of today's sources if there are none; it takes some seconds. False where there is no esbuild, as in
 * the image, or when it fails, which is said.
 */
export async function makeBundles(say: (line: string) => void, folderOf = bundlesFolder): Promise<boolean> {
  if (!existsSync(ESBUILD)) return false;
  try {
    const folder = folderOf();
    if (!existsSync(folder)) await bundle(folder);
    return true;
  } catch (error) {
    say(`The programs could not be bundled, and run from their sources: ${(error as Error).message}`);
    return false;
  }
}

/** Throws with the line that says why it failed. */
async function bundle(folder: string): Promise<void> {
  // Others have work to do meanwhile: one core is enough.
  const bundler = fork(BUNDLER, [folder], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { ...process.env, GOMAXPROCS: '1' },
  });
  let said = '';
  bundler.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code, signal] = (await once(bundler, 'close')) as [number | null, string | null];
  if (code === 0) return;
  const lines = said.split('\n').map((line) => line.trim());
  const why = lines.find((line) => /\berror: /i.test(line)) ?? lines.find(Boolean);
  throw new Error(why?.slice(0, 500) ?? `it ended with ${signal ?? `exit code ${code}`}`);
}

/** The file that runs a program: its bundle in the folder of `findBundles`, without one its source. */
export const programFile = (program: Program, folder: string | undefined): string =>
  folder === undefined ? join(ROOT, program) : join(folder, program.replace(/\.ts$/, '.js'));
