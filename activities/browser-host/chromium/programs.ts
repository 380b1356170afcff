import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { giveBackUser, takeUser } from './unprivileged-user.ts';

const run = promisify(execFile);
const TRIAL_MS = 20_000;

/** The programs of this machine that a browser host uses; null: there is none that works. */
export interface BrowserPrograms {
  /** Absolute, as are all. */
  chromium: string;
  /** Without it nothing is recorded. */
  ffmpeg: string | null;
  /** Bubblewrap, where this machine lets an unprivileged user make mounts by it. */
  bubblewrap: string | null;
  socat: string | null;
}

/** The program itself before the scripts that start it: each of those costs a tenth of a second. */
const CHROMIUMS = [
  '/usr/lib/chromium/chromium',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
];

/**
 * Finds the programs by trial runs of them.
 * @param chromiumPath the setting `CHROMIUM_PATH`. Answers null where there is no Chromium.
 */
export async function findPrograms(chromiumPath: string | undefined): Promise<BrowserPrograms | null> {
  const [chromium, ffmpeg, bubblewrap, socat] = await Promise.all([
    firstWorking(chromiumPath === undefined ? CHROMIUMS : [chromiumPath], ['--version']),
    firstWorking(['ffmpeg'], ['-version']),
    firstWorking(['bwrap'], ['--ro-bind', '/', '/', '/bin/true']),
    firstWorking(['socat'], ['-V']),
  ]);
  return chromium === null ? null : { chromium, ffmpeg, bubblewrap, socat };
}

/** Some distributions have a stub of the name, which only says where to find the browser. */
async function firstWorking(names: readonly string[], args: readonly string[]): Promise<string | null> {
  for (const name of names) {
    const path = await located(name);
    if (path === null) continue;
    const user = takeUser();
    const works = await run(path, args, { timeout: TRIAL_MS, env: { PATH: process.env.PATH }, ...user }).then(
      () => true,
      () => false,
    );
    giveBackUser(user);
    if (works) return path;
  }
  return null;
}

async function located(name: string): Promise<string | null> {
  const paths = isAbsolute(name)
    ? [name]
    : (process.env.PATH ?? '')
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, name));
  for (const path of paths)
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  return null;
}
