import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** A test that failed in a whole run and passed when its file ran again alone. */
export interface FlakyTest {
  file: string;
  test: string;
  /** When it failed, with the load of the machine then and the CPU that its file used, in seconds. */
  at: string;
  load: number;
  cpu: number;
  /** Digest of the file, so that a mended test begins anew. */
  digest: string;
  message: string;
}

/** Kept beside the development servers, outside the checkout: every run has a fresh one. */
const FILE = join(
  process.env.QUAYSIDE_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'quayside'),
  'flaky.json',
);

export const digestOf = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 16);

const readNoted = (file: string): FlakyTest[] =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as FlakyTest[]) : [];

/**
 * Writes down tests that failed once; answers those of them that were written down before and have not been changed
 * since.
 */
export function noteFlaky(found: readonly FlakyTest[], file = FILE): FlakyTest[] {
  const before = readNoted(file);
  const again = found.filter(({ file: path, test, digest }) =>
    before.some((noted) => noted.file === path && noted.test === test && noted.digest === digest),
  );
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify([...before, ...found], null, 2)}\n`);
  return again;
}
