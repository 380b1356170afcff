import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Whether a process of this number runs. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Runs the work while no other process that names the same file does. What a killed process left is taken over. */
export async function withBuildLock(file: string, work: () => Promise<void>): Promise<void> {
  mkdirSync(dirname(file), { recursive: true });
  while (!take(file)) {
    if (!isAlive(holderOf(file))) rmSync(file, { force: true });
    else await sleep(100);
  }
  try {
    await work();
  } finally {
    rmSync(file, { force: true });
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

function holderOf(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8')) || process.pid;
  } catch {
    return process.pid;
  }
}
