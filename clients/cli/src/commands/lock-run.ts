import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { extendEnvironmentLock, type LockTicket } from '@quayside/client';
import type { Context } from '../context.ts';
import { CommandError, EXIT, isForTheMoment, usage } from '../exit.ts';
import { environmentOf } from '../names.ts';
import type { Outcome } from '../output.ts';
import { giveBack, leaseMinutes, type LockOptions, takeLock } from './locks.ts';

const KILL_AFTER_MS = 10_000;
const LOOK_EVERY_MS = 100;
/** Between attempts to extend a lease while the service cannot. */
const RETRY_MS = 5_000;
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;

/**
 * Runs a command while the lock is held, and ends as it does. The lock is extended at a third of its lease; when it is lost,
 * the command's group is ended. Signals are passed on; the lock is given back when the command has ended.
 */
export async function runLocked(
  context: Context,
  name: string,
  command: readonly string[],
  options: LockOptions,
): Promise<Outcome | undefined> {
  const [program, ...args] = command;
  if (program === undefined) throw usage('Which command? Write it behind --');
  const environment = await environmentOf(context, name);
  const ticket = await takeLock(context, environment, options);
  context.say(`${environment.name} is held until ${ticket.expiresAt}`);
  try {
    return await runWhileHeld(
      context,
      { environmentId: environment.id, ticket, lease: leaseMinutes(options) },
      program,
      args,
    );
  } finally {
    await giveBack(context, environment.id, ticket.ticketId);
  }
}

interface Held {
  environmentId: string;
  ticket: LockTicket;
  lease: { leaseMinutes?: number };
}

async function runWhileHeld(
  context: Context,
  held: Held,
  program: string,
  args: readonly string[],
): Promise<Outcome | undefined> {
  // A group of its own: what the command starts ends with it.
  const child = spawn(program, args, { stdio: 'inherit', detached: true });
  const group = groupOf(child);
  let lost: CommandError | undefined;
  const end = (reason: CommandError) => {
    lost ??= reason;
    group.end();
  };
  context.onSignal = (signal) => group.signal(signal);
  const onDeadline = () => end(context.signal.reason as CommandError);
  context.signal.addEventListener('abort', onDeadline, { once: true });
  const stopExtending = keepLease(context, held, end);
  try {
    const exitCode = await exitOf(child);
    if (lost !== undefined) {
      await group.gone();
      throw lost;
    }
    return exitCode === 0 ? undefined : { data: { exitCode }, text: '', exitCode };
  } finally {
    stopExtending();
    group.ended();
  }
}

/**
 * Extends the lease at each third of it, until it is stopped; what a service cannot do for the moment is tried again while
 * the lease lasts. Says when the lock is lost, also while a request gets no answer.
 */
function keepLease(
  { client, say }: Context,
  { environmentId, ticket, lease }: Held,
  onLost: (reason: CommandError) => void,
): () => void {
  const path = { id: environmentId, ticketId: ticket.ticketId };
  const thirdMs = (ticket.leaseMinutes * 60_000) / 3;
  const stopped = new AbortController();
  let renewing: NodeJS.Timeout | undefined;
  let ending: NodeJS.Timeout | undefined;
  const stop = () => {
    clearTimeout(renewing);
    clearTimeout(ending);
    stopped.abort();
  };
  const lost = (why: string) => {
    stop();
    onLost(new CommandError(EXIT.conflict, 'lock_lost', `The lock is lost: ${why}`));
  };
  const heldUntil = (expiresAt: string | null) => {
    clearTimeout(ending);
    if (expiresAt === null) return;
    ending = setTimeout(() => lost('its lease has ended'), Date.parse(expiresAt) - Date.now());
  };
  const extendAfter = (waitMs: number) => {
    renewing = setTimeout(() => void extend(), waitMs);
  };
  const extend = async () => {
    const { data, error } = await extendEnvironmentLock({ client, path, body: lease, signal: stopped.signal });
    if (stopped.signal.aborted) return;
    if (data !== undefined) {
      heldUntil(data.expiresAt);
      extendAfter(thirdMs);
    } else if (isForTheMoment(error)) {
      say(`the lock was not extended: ${error.detail}`);
      extendAfter(Math.min(RETRY_MS, thirdMs));
    } else lost(error.detail);
  };
  heldUntil(ticket.expiresAt);
  extendAfter(thirdMs);
  return stop;
}

/** The group of a process: signals, and an end that is not to be put off. */
function groupOf(child: ChildProcess) {
  let killAt: number | undefined;
  let killing: NodeJS.Timeout | undefined;
  /** Whether there was anything to send it to; 0 only looks. */
  const signal = (name: NodeJS.Signals | 0): boolean => {
    try {
      return child.pid !== undefined && process.kill(-child.pid, name);
    } catch {
      return false;
    }
  };
  return {
    signal,
    end() {
      if (killAt !== undefined) return;
      killAt = performance.now() + KILL_AFTER_MS;
      signal('SIGTERM');
      killing = setTimeout(() => signal('SIGKILL'), KILL_AFTER_MS);
    },
    /** Resolves when all of it has ended: the rest may go on when its leader does not. */
    async gone() {
      while (signal(0) && performance.now() < (killAt ?? 0)) await sleep(LOOK_EVERY_MS);
      signal('SIGKILL');
    },
    ended: () => clearTimeout(killing),
  };
}

/** How a shell would say it: 126 not executable, 127 not found, 128 and the number of the signal. */
const exitOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      process.stderr.write(`${error.message}\n`);
      resolve(error.code === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE);
    });
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
