import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withBuildLock } from '../clients/build-lock.ts';
import { consoleSources } from './sources.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(ROOT, 'console');
const VITE = join(ROOT, 'node_modules/vite/bin/vite.js');
const MARK = join(FOLDER, 'dist/.sources');

const isMadeOf = (hash: string): boolean => existsSync(MARK) && readFileSync(MARK, 'utf8') === hash;

/** Builds the console where what it is made of has changed; says how long it took. Only one process does at a time. */
export async function buildConsole(say: (line: string) => void): Promise<void> {
  const hash = consoleSources(ROOT);
  if (isMadeOf(hash)) return;
  await withBuildLock(join(ROOT, 'node_modules/.cache/quayside/console.lock'), async () => {
    if (isMadeOf(hash)) return;
    const { buildClients } = await import('../clients/build.ts');
    await buildClients(say);
    const began = performance.now();
    // Whatever the process that asks for it is for, what is served is made for people.
    const env = { ...process.env, NODE_ENV: 'production' };
    await promisify(execFile)(process.execPath, [VITE, 'build', FOLDER, '--logLevel', 'error'], { env });
    // Last: nothing is served before.
    writeFileSync(MARK, hash);
    say(`built the console in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  });
}
