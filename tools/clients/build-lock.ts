import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Whether a process of this number runs. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Longer than any work takes: its number is another process's by now. */
const LONGEST_MS = 10 * 60_000;
/** Its holder was killed before it wrote its number. */
const UNWRITTEN_MS = 10_000;

/** Runs the work while no other process that names the same file does. What a killed process left is taken over. */
export async function withBuildLock(file: string, work: () => Promise<void>): Promise<void> {
  mkdirSync(dirname(file), { recursive: true });
  while (!take(file)) {
    if (!dropStale(file)) await sleep(100);
  }
  try {
    await work();
  } finally {
    if (textOf(file) === String(process.pid)) rmSync(file, { force: true });
  }
}

function take(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Takes away what a killed process left. Whoever saw the same may have taken it away first, and the lock since: one that
 * is not what was seen is put back.
 */
function dropStale(file: string): boolean {
  try {
    const seen = statSync(file);
    if (!isStale(readFileSync(file, 'utf8'), Date.now() - seen.mtimeMs)) return false;
    const taken = `${file}.${process.pid}`;
    renameSync(file, taken);
    const { ino, mtimeMs } = statSync(taken);
    if (ino !== seen.ino || mtimeMs !== seen.mtimeMs) linkSync(taken, file);
    rmSync(taken);
    return true;
  } catch {
    // It is gone, or somebody else's: the next attempt finds out.
    return false;
  }
}

const isStale = (holder: string, ageMs: number): boolean =>
  ageMs > LONGEST_MS || (holder === '' ? ageMs > UNWRITTEN_MS : !isAlive(Number(holder)));

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
