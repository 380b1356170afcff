import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../clients/build-lock.ts';

const HELD = /^held-by-(\d+)$/;

/**
 * Keeps a folder of bundles from being dropped as long as this process lives, since what is run loads parts of them later.
 * False when there is no such folder.
 */
export function hold(folder: string): boolean {
  try {
    for (const [name, pid] of holders(folder)) if (!isAlive(pid)) rmSync(join(folder, name), { force: true });
    writeFileSync(join(folder, `held-by-${process.pid}`), '');
    return true;
  } catch {
    return false;
  }
}

/** Whether somebody who is alive holds a folder. */
export const isHeld = (folder: string): boolean => holders(folder).some(([, pid]) => isAlive(pid));

const holders = (folder: string): [name: string, pid: number][] =>
  readdirSync(folder).flatMap((name) => {
    const [, pid] = HELD.exec(name) ?? [];
    return pid === undefined ? [] : [[name, Number(pid)]];
  });
