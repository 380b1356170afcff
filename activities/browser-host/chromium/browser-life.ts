import { type ChildProcess, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import type { BrowserEnd, RunningBrowser } from './browser.ts';
import { killSession } from './processes.ts';
import type { UnixUser } from './unprivileged-user.ts';

const EXIT_MAX_MS = 3_000;
const SAID_MAX_CHARACTERS = 2_000;

/** The processes of a browser, from their start until none is left and its folder is removed. */
export class BrowserLife implements Pick<RunningBrowser, 'ended' | 'kill'> {
  readonly ended: Promise<BrowserEnd>;
  /** The end of what was printed: why it did not start. */
  said = '';
  readonly #exited = Promise.withResolvers<void>();
  readonly #folder: string;
  #child: ChildProcess | undefined;
  #end: BrowserEnd | undefined;

  /** @param onEnd called when its processes are gone. */
  constructor(folder: string, onEnd: () => void) {
    this.#folder = folder;
    this.ended = this.#exited.promise.then(() => this.#clear(onEnd));
  }

  /**
   * Starts its first process as the leader of a session of processes, with three pipes beside the standard ones.
   * @param user whom it belongs to; undefined: this process's own.
   */
  start([program = '', ...args]: readonly string[], user: UnixUser | undefined): ChildProcess & { pid: number } {
    const child = spawn(program, args, {
      cwd: this.#folder,
      // Nothing of the host's own environment, which holds secrets.
      env: { HOME: `${this.#folder}/profile`, PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
      detached: true,
      ...user,
    });
    this.#child = child;
    child.once('exit', () => this.#exited.resolve()).on('error', (error) => this.#say(error.message));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#say(text));
    const { pid } = child;
    if (pid === undefined) throw new Error(`${program} cannot be run`);
    return Object.assign(child, { pid });
  }

  kill(end: BrowserEnd): void {
    this.#end ??= end;
    if (this.#child?.pid === undefined) this.#exited.resolve();
    else if (this.#child.exitCode === null && this.#child.signalCode === null) killGroup(this.#child.pid);
  }

  /** The connection to it is closed: it ends by itself, or is killed. */
  expectExit(): void {
    const end = { reason: 'provider_error', detail: 'The browser closed its connection and went on' } as const;
    const timer = setTimeout(() => this.kill(end), EXIT_MAX_MS);
    void this.#exited.promise.then(() => clearTimeout(timer));
  }

  async #clear(onEnd: () => void): Promise<BrowserEnd> {
    const end = (this.#end ??= ownEnd(this.#child));
    while (this.#child?.pid !== undefined && !(await isKilled(this.#child.pid)));
    onEnd();
    // What cannot be removed now is removed by the next host that starts.
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
    return end;
  }

  #say(text: string): void {
    this.said = (this.said + text).slice(-SAID_MAX_CHARACTERS);
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // No process of it is left.
  }
}

/** False: some do not end yet, as those that wait for a disk. They still use memory and a slot, so they are waited for. */
const isKilled = (session: number): Promise<boolean> =>
  killSession(session).then(
    () => true,
    () => false,
  );

function ownEnd(child: ChildProcess | undefined): BrowserEnd {
  if (child?.exitCode === 0) return { reason: 'browser_closed', detail: null };
  return {
    reason: 'provider_error',
    detail: `The browser crashed (${child?.signalCode ?? `code ${child?.exitCode}`})`,
  };
}
