import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import type { EndedProgram, RunProgram } from '../../domain/flows/program.port.ts';

/** What of the output is kept. */
const TAIL_BYTES = 64 * 1024;
/** What of the output is given to be kept elsewhere. */
const KEPT_BYTES = 64 * 1024 * 1024;
/** A program that was asked to end has this long before it is killed. */
const GRACE_MS = 5_000;
/** What a descendant that left the group still holds open is not waited for longer than this. */
const DRAIN_MS = 1_000;

/** The last bytes of a stream of any length. */
class Tail {
  #chunks: Buffer[] = [];
  #kept = 0;
  bytes = 0;

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    this.#chunks.push(chunk);
    this.#kept += chunk.length;
    while (this.#kept - (this.#chunks[0]?.length ?? 0) >= TAIL_BYTES) this.#kept -= this.#chunks.shift()?.length ?? 0;
  }

  /** PostgreSQL stores no U+0000. */
  get text(): string {
    return Buffer.concat(this.#chunks).subarray(-TAIL_BYTES).toString('utf8').replaceAll('\0', '�');
  }
}

/**
 * Runs programs in process groups of their own, with a clean environment. Told to end, a group gets SIGTERM and, after
 * five seconds, SIGKILL. A watcher kills the groups that are left when this process dies.
 */
export function createProgramRunner(graceMs = GRACE_MS): RunProgram {
  const watch = createWatch();
  return (program, signal, keep) =>
    new Promise((resolve) => {
      const output = new Tail();
      let why: EndedProgram['why'] = 'exited';
      const child = spawn(program.program, [...program.args], {
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { PATH: process.env.PATH ?? '/usr/bin:/bin', ...program.env },
      });
      const dismissWatcher = child.pid === undefined ? () => undefined : watch(child.pid);
      let kill: NodeJS.Timeout | undefined;
      const end = (reason: EndedProgram['why']) => {
        if (kill) return;
        why = reason;
        signalGroup(child, 'SIGTERM');
        kill = setTimeout(() => signalGroup(child, 'SIGKILL'), graceMs);
      };
      const limit = setTimeout(() => end('timed_out'), program.timeoutSeconds * 1_000);
      const cancel = () => end('cancelled');
      if (signal.aborted) cancel();
      signal.addEventListener('abort', cancel);
      const streams = [child.stdout, child.stderr];
      const keeper = keepOutput(keep, () => streams.forEach((stream) => stream.resume()));
      for (const stream of streams) {
        stream.on('data', (chunk: Buffer) => {
          output.add(chunk);
          if (!keeper.take(chunk, output.bytes)) streams.forEach((each) => each.pause());
        });
      }

      const settle = (ended: Pick<EndedProgram, 'why' | 'exitCode'>) => {
        clearTimeout(limit);
        clearTimeout(kill);
        signal.removeEventListener('abort', cancel);
        // What it left behind in its group ends with it.
        signalGroup(child, 'SIGKILL');
        dismissWatcher();
        for (const stream of streams) stream.destroy();
        void keeper.end().then((isKept) => resolve({ ...ended, outputTail: output.text, outputBytes: output.bytes, isKept }));
      };
      child.once('error', () => settle({ why: 'not_started', exitCode: null }));
      child.once('exit', (exitCode) => {
        const drained = setTimeout(() => child.emit('close'), DRAIN_MS);
        child.once('close', () => {
          clearTimeout(drained);
          settle({ why, exitCode });
        });
      });
    });
}

/** Hands the output on piece by piece; `take` answers false when the program has to wait until `resume` is called. */
function keepOutput(keep: Parameters<RunProgram>[2], resume: () => void) {
  const whole = new PassThrough();
  let isBroken = keep === undefined;
  whole.on('drain', resume);
  const kept = keep?.(whole).catch(() => {
    isBroken = true;
    whole.destroy();
    resume();
  });
  return {
    take: (chunk: Buffer, bytes: number): boolean => isBroken || bytes > KEPT_BYTES || whole.write(chunk),
    async end(): Promise<boolean> {
      whole.end();
      await kept;
      return !isBroken;
    },
  };
}

/** The group may be gone already. */
function signalGroup({ pid }: ChildProcess, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch {
    // Nothing of it is left.
  }
}

/** Keeps the numbers of groups that it is told, and kills those that are left when the pipe to it closes. */
const WATCHER = `
groups=
while read -r word group; do
  kept=
  for each in $groups; do [ "$each" = "$group" ] || kept="$kept $each"; done
  groups=$kept
  [ "$word" = watch ] && groups="$groups $group"
done
for each in $groups; do kill -s KILL -- "-$each"; done`;

/** One shell for all programs of this process: to start one takes as long as to start a program. Answers how to have it look after a group, and no longer. */
function createWatch(): (group: number) => () => void {
  const watched = new Set<number>();
  let watcher: ReturnType<typeof startWatcher> | undefined;
  const tell = (word: string, group: number) => watcher?.stdin.write(`${word} ${group}\n`);
  const startWatcher = () => {
    const started = spawn('sh', ['-c', WATCHER], { detached: true, stdio: ['pipe', 'ignore', 'ignore'], env: { PATH: process.env.PATH ?? '/usr/bin:/bin' } });
    const forget = () => {
      if (watcher === started) watcher = undefined;
    };
    started.on('error', forget);
    started.on('exit', forget);
    started.stdin.on('error', forget);
    // It must not keep this process alive.
    started.unref();
    (started.stdin as Socket).unref();
    return started;
  };
  return (group) => {
    watched.add(group);
    if (watcher) tell('watch', group);
    else {
      watcher = startWatcher();
      for (const each of watched) tell('watch', each);
    }
    return () => {
      watched.delete(group);
      tell('forget', group);
    };
  };
}
