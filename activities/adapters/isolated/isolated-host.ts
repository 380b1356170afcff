import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { signalGroup } from '../programs/process-group.ts';

/**
 * A small process that owns a folder, and runs one program on the files in it. When the channel to its worker closes,
 * however that went, it kills the program with all that this started, removes the folder and ends.
 */

export interface HostRun {
  program: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** Undefined: whoever runs it looks at the clock. */
  timeoutMs: number | undefined;
  /** It is told lines on its standard input, and what it prints on its standard output are answers, a line each. */
  isTalking: boolean;
}

export type HostOrder = { open: { folder: string; subfolders: string[] } } | { run: HostRun } | { tell: string };

export type HostReport = { isOpen: true } | { ended: EndedProgram } | { startedGroup: number } | { said: string };

export interface EndedProgram {
  why: 'exited' | 'timed_out' | 'not_started';
  exitCode: number | null;
  /** The end of what it printed. */
  tail: string;
}

const TAIL_LENGTH = 8_000;
const DRAIN_MS = 1_000;
const LINE_LENGTH_MAX = 1_000;

let folder: string | undefined;
let group: number | undefined;
/** What the program is to be told when it runs. */
const untold: string[] = [];
let tell = (line: string): void => void untold.push(line);

/** A worker that is gone hears nothing: the channel closes, and what is done then is done. */
const report = (said: HostReport) => void process.send?.(said, undefined, undefined, () => undefined);

function run({ program, args, cwd, env, timeoutMs, isTalking }: HostRun): void {
  let why: EndedProgram['why'] = 'exited';
  let tail = '';
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  // It may have ended before it has read what it is told.
  child.stdin.on('error', () => undefined);
  if (isTalking) {
    tell = (line) => void child.stdin.write(`${line}\n`);
    untold.splice(0).forEach(tell);
    hearLines(child.stdout);
  } else child.stdin.end();
  group = child.pid;
  if (group !== undefined) report({ startedGroup: group });
  const kill = () => {
    if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
  };
  const stop = () => {
    why = 'timed_out';
    kill();
  };
  const limit = timeoutMs === undefined ? undefined : setTimeout(stop, timeoutMs);
  for (const stream of isTalking ? [child.stderr] : [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-TAIL_LENGTH);
    });
  const settle = (ended: EndedProgram) => {
    clearTimeout(limit);
    report({ ended });
  };
  child.once('error', ({ message }) => settle({ why: 'not_started', exitCode: null, tail: message }));
  child.once('exit', (exitCode) => {
    // What it left behind in its group ends with it. Without a namespace of its own, a descendant that left the group
    // lives on, and may hold the output open.
    kill();
    const drained = setTimeout(() => child.emit('close'), DRAIN_MS);
    child.once('close', () => {
      clearTimeout(drained);
      settle({ why, exitCode, tail });
    });
  });
}

/** Reports each line; of one that is too long nothing. */
function hearLines(stream: Readable): void {
  let rest = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(0, LINE_LENGTH_MAX);
    for (const said of lines) if (said.length < LINE_LENGTH_MAX) report({ said });
  });
}

process.on('message', (order: HostOrder) => {
  if ('open' in order) {
    folder = order.open.folder;
    try {
      for (const each of order.open.subfolders) mkdirSync(each, { recursive: true, mode: 0o700 });
      report({ isOpen: true });
    } catch (error) {
      process.stderr.write(`the folder of an isolated program could not be made: ${(error as Error).message}\n`);
      process.disconnect();
    }
  } else if ('tell' in order) tell(order.tell);
  else run(order.run);
});
process.on('disconnect', () => {
  if (group !== undefined) signalGroup(group, 'SIGKILL');
  // A git of the worker may still write into it for a moment.
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  process.exit();
});
