import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { extendEnvironmentLock, type LockTicket, type Problem } from '@quayside/client';
import type { Context } from '../context.ts';
import { CommandError, EXIT, exitCodeOf, usage } from '../exit.ts';
import { environmentOf } from '../names.ts';
import type { Outcome } from '../output.ts';
import { giveBack, leaseMinutes, type LockOptions, takeLock } from './locks.ts';

const KILL_AFTER_MS = 10_000;
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
    if (lost !== undefined) throw lost;
    return exitCode === 0 ? undefined : { data: { exitCode }, text: '', exitCode };
  } finally {
    stopExtending();
    group.ended();
  }
}

/** Extends the lease at each third of it, until it is stopped; says when the lock is lost. */
function keepLease(
  { client, say }: Context,
  { environmentId, ticket, lease }: Held,
  onLost: (reason: CommandError) => void,
): () => void {
  const path = { id: environmentId, ticketId: ticket.ticketId };
  const stopped = new AbortController();
  let expiresAt = Date.parse(ticket.expiresAt ?? '');
  let timer: NodeJS.Timeout;
  const later = () => {
    timer = setTimeout(() => void extend(), (ticket.leaseMinutes * 60_000) / 3);
  };
  const extend = async () => {
    const body = lease;
    const { data, error } = await extendEnvironmentLock({ client, path, body, signal: stopped.signal });
    if (stopped.signal.aborted) return;
    if (data !== undefined) expiresAt = Date.parse(data.expiresAt ?? '');
    else if (!mayStillBeHeld(error, expiresAt))
      return onLost(new CommandError(EXIT.conflict, 'lock_lost', `The lock is lost: ${error.detail}`));
    else say(`the lock was not extended: ${error.detail}`);
    later();
  };
  later();
  return () => {
    clearTimeout(timer);
    stopped.abort();
  };
}

/** A service that is away for a moment takes no lock back before its lease has ended. */
const mayStillBeHeld = (problem: Problem, expiresAt: number): boolean => {
  const code = exitCodeOf(problem);
  return (code === EXIT.unreachable || code === EXIT.timedOut) && Date.now() < expiresAt;
};

/** The group of a process: signals, and an end that is not to be put off. */
function groupOf(child: ChildProcess) {
  let killing: NodeJS.Timeout | undefined;
  const signal = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // It has ended.
    }
  };
  return {
    signal,
    end() {
      signal('SIGTERM');
      killing ??= setTimeout(() => signal('SIGKILL'), KILL_AFTER_MS);
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
