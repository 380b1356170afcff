/**
 * Runs the tests with Jest: `npm test [-- paths and options of Jest]`. Options of its own:
 *   --changed [revision]  what a change needs: tests of the features that differ from the revision (default: what
 *                         origin/main, else HEAD, has in common with this branch), and what is not committed
 *   --feature a,b         the tests of features, in all layers
 */
import { execFileSync, spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { featuresOf, testFoldersOf } from './changed-tests.ts';

const ROOT = new URL('..', import.meta.url).pathname;
const jest = createRequire(import.meta.url).resolve('jest/bin/jest');

const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

function changedSince(revision: string | undefined): string[] {
  const base = revision ?? git('merge-base', 'HEAD', hasRevision('origin/main') ? 'origin/main' : 'HEAD');
  const committed = git('diff', '--name-only', base);
  const added = git('ls-files', '--others', '--exclude-standard');
  return `${committed}\n${added}`.split('\n').filter((file) => file !== '');
}

function hasRevision(name: string): boolean {
  try {
    git('rev-parse', '--verify', '--quiet', name);
    return true;
  } catch {
    return false;
  }
}

/** The arguments for Jest; exits when there is nothing to run. */
function jestArguments(args: readonly string[]): string[] {
  const [first, second, ...rest] = args;
  if (first !== '--changed' && first !== '--feature') return [...args];
  const isNamed = second !== undefined && !second.startsWith('-');
  const more = isNamed ? rest : args.slice(1);
  const files = globSync('test/**/*.test.ts', { cwd: ROOT });
  const { folders, reason } =
    first === '--feature'
      ? { folders: testFoldersOf((second ?? '').split(','), files), reason: undefined }
      : featuresOf(changedSince(isNamed ? second : undefined), files);
  if (reason !== undefined) process.stderr.write(`All tests run: ${reason}.\n`);
  else if (folders.length === 0) {
    process.stderr.write('No test belongs to that.\n');
    process.exit(first === '--feature' ? 1 : 0);
  } else process.stderr.write(`${folders.join(' ')}\n`);
  return [...(reason === undefined ? folders : []), ...more];
}

/**
 * Most of what a test makes is soon gone, and all processes together keep all cores busy: room for new objects, and no
 * threads that collect others beside them, save a tenth of the CPU. Jest hands the flags on to its processes.
 */
const MEMORY_FLAGS = ['--max-semi-space-size=64', '--initial-old-space-size=1024', '--single-threaded-gc'];

const args = [...MEMORY_FLAGS, jest, ...jestArguments(process.argv.slice(2))];
const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
