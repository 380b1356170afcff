import { type ChildProcess, fork } from 'node:child_process';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { newId } from '../../../domain/kernel/shared/ids.ts';
import { signalGroup } from '../programs/process-group.ts';
import type { EndedProgram, HostOrder, HostReport } from './isolated-host.ts';
import { isolatedBy } from './isolation.ts';

const HOST = fileURLToPath(new URL('./isolated-host.ts', import.meta.url));
/** Nothing that is done here takes so long: a folder of this age was left by a machine that stopped. */
const STALE_MS = 2 * 3_600_000;

/** A program that reads files which others wrote, and what it may see. */
export interface IsolatedProgram {
  command: string[];
  /** Files and folders that it reads besides those of its place. */
  readable: string[];
  cwd: string;
  env: Record<string, string>;
  /** Undefined: it may last until the place is closed. */
  timeoutMs: number | undefined;
}

/** What such a program is given of the environment: nothing that is ours. */
export const closedEnvironment = (node: string, home: string): Record<string, string> => ({
  PATH: `${dirname(node)}:${process.env.PATH ?? '/usr/bin:/bin'}`,
  HOME: home,
  TMPDIR: home,
  LC_ALL: 'C.UTF-8',
});

/**
 * A folder with files that others wrote, and a program that works on them as a process group of its own: with a closed
 * environment and, where the system permits that, without a network, other processes and files that it does not need.
 * The folder and the program are gone after `close`, and when this process ends in any way.
 */
export class IsolatedPlace<Name extends string> {
  readonly folders: Readonly<Record<Name, string>>;
  readonly #whole: string;
  readonly #host: ChildProcess;
  readonly #ended: Promise<void>;
  /** Process group of the program while it runs; undefined before and after. */
  #group: number | undefined;

  private constructor(whole: string, names: readonly Name[], host: ChildProcess) {
    this.#whole = whole;
    this.folders = Object.fromEntries(names.map((name) => [name, join(whole, name)])) as Record<Name, string>;
    this.#host = host;
    host.on('message', (report: HostReport) => {
      if ('startedGroup' in report) this.#group = report.startedGroup;
      else if (!('said' in report)) this.#group = undefined;
    });
    this.#ended = new Promise((resolve) => {
      host.once('exit', () => resolve());
      // One that could not be started ends without an exit.
      host.on('error', () => {
        if (host.pid === undefined) resolve();
      });
    });
    void this.#ended.then(() => this.#killGroup());
  }

  /** @param folder holds a folder for each place that is open. */
  static async open<Name extends string>({
    folder,
    subfolders,
    node,
  }: {
    folder: string;
    subfolders: readonly Name[];
    node: string;
  }): Promise<IsolatedPlace<Name>> {
    await mkdir(folder, { recursive: true });
    await removeStale(folder);
    const host = fork(HOST, [], {
      detached: true,
      execArgv: [],
      execPath: node,
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    });
    const whole = join(folder, newId());
    const place = new IsolatedPlace(whole, subfolders, host);
    const opened = place.#heard((report) => 'isOpen' in report);
    place.#order({ open: { folder: whole, subfolders: Object.values(place.folders) } });
    if (await opened) return place;
    await place.close();
    throw new DomainError('unavailable', 'A process or folder for files of a repository could not be made');
  }

  /**
   * Runs the program; undefined: it was killed. Rejects with the reason of `signal` when that ended it, and the place with
   * it. @param hear makes it one that talks: it gets each line that the program prints.
   */
  async run(
    { command, readable, ...plan }: IsolatedProgram,
    signal: AbortSignal,
    hear?: (line: string) => void,
  ): Promise<(EndedProgram & { isApart: boolean }) | undefined> {
    const apart = await isolatedBy({ folder: this.#whole, readable });
    const [program = '', ...args] = [...apart, ...command];
    const stop = () => this.#disconnect();
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    this.#host.on('message', (report: HostReport) => {
      if ('said' in report) hear?.(report.said);
    });
    const ended = this.#heard((report) => 'ended' in report);
    this.#order({ run: { ...plan, program, args, isTalking: hear !== undefined } });
    const report = await ended.finally(() => signal.removeEventListener('abort', stop));
    signal.throwIfAborted();
    return report && 'ended' in report ? { ...report.ended, isApart: apart.length > 0 } : undefined;
  }

  /** Tells a program that talks a line; before it runs, it is told when it does. */
  tell(line: string): void {
    this.#order({ tell: line });
  }

  /** Kills what still runs and removes the folder; resolves when both is done. */
  async close(): Promise<void> {
    this.#disconnect();
    await this.#ended;
    // The host does so, too, unless it was killed.
    await rm(this.#whole, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  #killGroup(): void {
    if (this.#group !== undefined) signalGroup(this.#group, 'SIGKILL');
    this.#group = undefined;
  }

  #disconnect(): void {
    if (this.#host.connected) this.#host.disconnect();
  }

  #order(order: HostOrder): void {
    // One that cannot be told has ended, or is about to.
    if (this.#host.connected) this.#host.send(order, () => undefined);
  }

  /** The first report of a kind; undefined when the host has ended before. */
  #heard(isIt: (report: HostReport) => boolean): Promise<HostReport | undefined> {
    return new Promise((resolve) => {
      const listen = (report: HostReport) => {
        if (!isIt(report)) return;
        this.#host.off('message', listen);
        resolve(report);
      };
      this.#host.on('message', listen);
      void this.#ended.then(() => resolve(undefined));
      if (!this.#host.connected) resolve(undefined);
    });
  }
}

/** Why a program failed, for people; undefined when it ended well. @param setting names its heap. */
export function whyFailed(
  name: string,
  { why, exitCode, tail }: EndedProgram,
  { timeoutMs = 0, setting }: { timeoutMs: number | undefined; setting: string | undefined },
): string | undefined {
  if (why === 'timed_out') return `${name} did not end within ${timeoutMs / 1_000} s`;
  if (why === 'not_started') return `${name} could not be started`;
  if (exitCode === 0) return undefined;
  if (isOutOfHeap(tail)) return `${name} ran out of memory${setting === undefined ? '' : ` (${setting})`}`;
  const end = isSignal(exitCode) ? 'was killed' : `ended with exit code ${exitCode}`;
  const line = /^(?:\w*Error: )(.*)$/m.exec(tail)?.[1];
  return line === undefined ? `${name} ${end}` : `${name} ${end}: ${withoutPaths(line)}`;
}

const isOutOfHeap = (tail: string): boolean => /heap out of memory/i.test(tail);
/** As shells and namespaces report it. */
const isSignal = (exitCode: number | null): boolean => exitCode === null || exitCode > 128;

/** Whether the machine ended a program, or did not start it: another time that may go well. Its own bounds stay. */
export const mayPass = ({ why, exitCode, tail }: EndedProgram): boolean =>
  why === 'not_started' || (why === 'exited' && isSignal(exitCode) && !isOutOfHeap(tail));

const withoutPaths = (text: string): string => text.replaceAll(/(\/[^\s'",:/]+){2,}/g, '…').slice(0, 300);

async function removeStale(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > STALE_MS) await rm(path, { recursive: true, force: true });
  }
}
