import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { memoized } from '../domain/kernel/caches/memoized.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUNDLER = fileURLToPath(new URL('bundle-workflows.ts', import.meta.url));

/** All that a bundle can depend on: workflows, the rules that they import, and the SDK. */
const SOURCES = [
  'workflows/**/*.ts',
  'domain/**/*.ts',
  'activities/{bundle-workflows,lazy-exports}.ts',
  'package-lock.json',
];

/** Where bundles are kept from one start to the next. */
export const bundleFolder = ({
  WORKFLOW_BUNDLE_DIR,
  DATA_DIR = '.data',
}: {
  WORKFLOW_BUNDLE_DIR?: string | undefined;
  DATA_DIR?: string | undefined;
}): string => WORKFLOW_BUNDLE_DIR ?? join(DATA_DIR, 'workflows');

export interface BundleOptions {
  folder: string;
  /** Whether workflows carry traces on. */
  isTraced: boolean;
}

/** The file of the bundle of today's workflows, named by the digest of its sources; it need not exist. */
export const bundleFile = ({ folder, isTraced }: BundleOptions): string =>
  resolve(folder, `workflows-${digestOf(ROOT)}${isTraced ? '-traced' : ''}.js`);

/** Read once: a process that runs has loaded its own modules at its start, too. */
const digestOf = memoized((root: string): string => {
  const digest = createHash('sha256');
  for (const file of globSync(SOURCES, { cwd: root }).toSorted()) {
    digest
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return digest.digest('hex').slice(0, 16);
});

/**
 * The bundle's file, which is made when it is not there yet: by a process of its own, as the bundler takes some 150 MB that
 * a worker would keep. Several may make it at once.
 */
export async function ensureBundle(options: BundleOptions): Promise<string> {
  const file = bundleFile(options);
  if (existsSync(file)) return file;
  const bundler = fork(BUNDLER, [options.folder, ...(options.isTraced ? ['--traced'] : [])], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  bundler.stderr?.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  const [code] = (await once(bundler, 'close')) as [number | null];
  if (code !== 0) throw new Error(`The workflows could not be bundled: ${said.trim()}`);
  return file;
}
