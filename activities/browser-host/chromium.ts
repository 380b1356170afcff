import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Isolation, Viewport } from '../../domain/browser-sessions/browser-provider.port.ts';
import { within } from '../../domain/shared/within.ts';
import type { BrowserEnd, RunningBrowser } from './browser.ts';
import { CdpPipe } from './cdp-pipe.ts';
import { chromiumSwitches } from './chromium-switches.ts';
import type { BrowserPrograms } from './programs.ts';
import { unprivilegedUser } from './unprivileged-user.ts';

const START_MAX_MS = 30_000;
const SAID_MAX_CHARACTERS = 2_000;

export interface ChromiumOrder {
  programs: BrowserPrograms;
  isolation: Isolation;
  /** Its own: made here, and removed when it has ended. A path that every user may follow. */
  folder: string;
  viewport: Viewport;
}

/** Chromium did not start. The message is for operators. */
export class ChromiumStartError extends Error {}

/** Starts a Chromium with one empty tab; resolves when it answers. Rejects with `ChromiumStartError`, and leaves nothing behind. */
export async function startChromium(order: ChromiumOrder): Promise<RunningBrowser> {
  const { programs, isolation, folder, viewport } = order;
  const user = unprivilegedUser();
  const profile = join(folder, 'profile');
  await mkdir(profile, { recursive: true, mode: 0o700 });
  if (user) for (const each of [folder, profile]) await chown(each, user.uid, user.gid);
  const child = spawn(programs.chromium, chromiumSwitches({ viewport, isolation, proxy: null, profile }), {
    cwd: folder,
    // Nothing of the host's own environment, which holds secrets.
    env: { HOME: profile, PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
    ...(isolation !== 'none' && user),
  });
  const said = lastWords(child);
  const failed = once(child, 'exit').then(
    () => undefined,
    () => undefined,
  );
  const cdp = new CdpPipe(child.stdio[3] as Writable, child.stdio[4] as unknown as Readable);
  const { ended, kill } = lifeOf(child, failed, folder);
  void cdp.closed.then(() => kill({ reason: 'browser_closed', detail: null }));
  try {
    await within(START_MAX_MS, cdp.send('Browser.getVersion'), () => {
      throw new Error('it did not answer in time');
    });
  } catch (error) {
    kill({ reason: 'provider_error', detail: null });
    await ended;
    throw new ChromiumStartError(`Chromium did not start: ${(error as Error).message} ${said()}`.trim());
  }
  return {
    cdp,
    isolation,
    pid: child.pid ?? 0,
    egress: { connections: 0, bytes: 0, allowed: new Map(), refused: new Map() },
    allow: () => undefined,
    ended,
    kill,
  };
}

function lifeOf(child: ChildProcess, exited: Promise<void>, folder: string): Pick<RunningBrowser, 'ended' | 'kill'> {
  let end: BrowserEnd | undefined;
  const killAll = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // No process of the group is left.
    }
  };
  const ended = exited.then(async () => {
    end ??= ownEnd(child);
    killAll();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    return end;
  });
  return {
    ended,
    kill(given) {
      end ??= given;
      killAll();
    },
  };
}

function ownEnd({ exitCode, signalCode }: ChildProcess): BrowserEnd {
  if (exitCode === 0) return { reason: 'browser_closed', detail: null };
  return { reason: 'provider_error', detail: `The browser crashed (${signalCode ?? `code ${exitCode}`})` };
}

/** The end of what it printed: why it did not start. */
function lastWords({ stderr }: ChildProcess): () => string {
  let said = '';
  stderr?.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-SAID_MAX_CHARACTERS)));
  return () => said.trim();
}
