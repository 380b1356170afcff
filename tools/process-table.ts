import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const HAS_PROC = existsSync('/proc/self/stat');

/**
 * What tells a process from a later one of the same number: the time of its start. Undefined when there is none, or
 * when it has ended and nobody has taken notice yet.
 */
export function identityOf(pid: number): string | undefined {
  try {
    if (!HAS_PROC) return ps(pid, 'lstart');
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may hold anything; behind it state is the first field and the start the twentieth.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : `${bootId}/${fields[19]}`;
  } catch {
    return undefined;
  }
}

/** The command line of a process; empty when there is none. */
export function commandOf(pid: number): string {
  try {
    return HAS_PROC ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') : ps(pid, 'command');
  } catch {
    return '';
  }
}

/** Signals a process that need not be a child of this one, waits for its end, and kills it after `timeoutMs`. */
export async function stopProcess(pid: number, signal: NodeJS.Signals, timeoutMs: number): Promise<void> {
  const identity = identityOf(pid);
  const isThere = () => identity !== undefined && identityOf(pid) === identity;
  const deadline = Date.now() + timeoutMs;
  for (let next: NodeJS.Signals | 0 = signal; isThere(); next = Date.now() > deadline ? 'SIGKILL' : 0) {
    try {
      process.kill(pid, next);
    } catch {
      return;
    }
    await sleep(25);
  }
}

const ps = (pid: number, column: string): string =>
  execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
