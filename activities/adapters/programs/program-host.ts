import { spawn } from 'node:child_process';
import type { EndedProgram, Program } from '../../../domain/delivery/flows/programs/program.port.ts';
import { signalGroup } from './process-group.ts';

/**
 * A small process that runs programs for a worker: to start one costs as much as the starting process is big, and all
 * else in it stands still meanwhile. When the channel to the worker closes, however that went, all programs are killed.
 */

/** What the worker says. */
export type HostOrder =
  | { id: number; run: Program; graceMs: number; leaseMs?: number }
  /** It may run for its lease from now on. */
  | { id: number; renew: true }
  /** Ends it with SIGTERM, and SIGKILL when that is not enough. */
  | { id: number; end: 'cancelled' }
  /** So much of what it printed is no longer in memory. */
  | { id: number; takenBytes: number };

/** What the host says. */
export type HostReport =
  | { id: number; startedAs: number }
  | { id: number; output: Buffer }
  | { id: number; ended: Pick<EndedProgram, 'why' | 'exitCode'> };

/** What a descendant that left the group still holds open is not waited for longer than this. */
const DRAIN_MS = 1_000;
/** A program that prints faster than its output is taken waits at this point. */
const UNTAKEN_MAX_BYTES = 1024 * 1024;

interface Running {
  kill: () => void;
  end: (reason: EndedProgram['why']) => void;
  taken: (bytes: number) => void;
  renew: () => void;
}
const running = new Map<number, Running>();

const report = (said: HostReport) => void process.send?.(said);

function run(
  id: number,
  { program, args, env, timeoutSeconds }: Program,
  { graceMs, leaseMs }: { graceMs: number; leaseMs?: number },
): void {
  let why: EndedProgram['why'] = 'exited';
  let kill: NodeJS.Timeout | undefined;
  let untaken = 0;
  const child = spawn(program, [...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', ...env },
  });
  const streams = [child.stdout, child.stderr];
  const signal = (name: NodeJS.Signals) => {
    if (child.pid !== undefined) signalGroup(child.pid, name);
  };
  const end = (reason: EndedProgram['why']) => {
    if (kill) return;
    why = reason;
    signal('SIGTERM');
    kill = setTimeout(() => signal('SIGKILL'), graceMs);
  };
  const limit = setTimeout(() => end('timed_out'), timeoutSeconds * 1_000);
  const lease = leaseMs === undefined ? undefined : setTimeout(() => end('lease_ended'), leaseMs);
  const taken = (bytes: number) => {
    untaken -= bytes;
    if (untaken < UNTAKEN_MAX_BYTES) for (const stream of streams) stream.resume();
  };
  const settle = (ended: Pick<EndedProgram, 'why' | 'exitCode'>) => {
    clearTimeout(limit);
    clearTimeout(lease);
    clearTimeout(kill);
    // What it left behind in its group ends with it.
    signal('SIGKILL');
    running.delete(id);
    for (const stream of streams) stream.destroy();
    report({ id, ended });
  };
  running.set(id, { kill: () => signal('SIGKILL'), end, taken, renew: () => lease?.refresh() });
  for (const stream of streams) {
    stream.on('data', (output: Buffer) => {
      untaken += output.length;
      report({ id, output });
      if (untaken >= UNTAKEN_MAX_BYTES) for (const each of streams) each.pause();
    });
  }
  child.once('error', () => settle({ why: 'not_started', exitCode: null }));
  child.once('exit', (exitCode) => {
    const drained = setTimeout(() => child.emit('close'), DRAIN_MS);
    child.once('close', () => {
      clearTimeout(drained);
      settle({ why, exitCode });
    });
  });
  if (child.pid !== undefined) report({ id, startedAs: child.pid });
}

process.on('message', (order: HostOrder) => {
  if ('run' in order) run(order.id, order.run, order);
  else if ('renew' in order) running.get(order.id)?.renew();
  else if ('end' in order) running.get(order.id)?.end(order.end);
  else running.get(order.id)?.taken(order.takenBytes);
});
process.on('disconnect', () => {
  for (const { kill } of running.values()) kill();
  process.exit();
});
