import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 25;
const GONE_MAX_MS = 10_000;
/** Several browsers ask at the same time. */
const TABLE_FRESH_MS = 500;

interface ProcessTable {
  readAtMs: number;
  /** Ids of processes by that of their session's leader. */
  bySession: Map<number, number[]>;
}

let latest: ProcessTable = { readAtMs: Number.NEGATIVE_INFINITY, bySession: new Map() };

/** The processes of a session, those in namespaces of their own included. Ended ones that nobody has asked about do not count. */
export function processesOf(session: number, freshMs = 0): readonly number[] {
  const nowMs = performance.now();
  if (nowMs - latest.readAtMs >= freshMs) latest = { readAtMs: nowMs, bySession: readTable() };
  return latest.bySession.get(session) ?? [];
}

function readTable(): ProcessTable['bySession'] {
  const bySession: ProcessTable['bySession'] = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // pid (name) state parent group session …; the name may contain anything.
    const stat = contents(`/proc/${name}/stat`);
    const [state, , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 4);
    if (session === undefined || state === 'Z') continue;
    const members = bySession.get(Number(session));
    if (members) members.push(Number(name));
    else bySession.set(Number(session), [Number(name)]);
  }
  return bySession;
}

/**
 * Memory of a session's processes in bytes: what they wrote and what they share, without the files that they have mapped.
 * Shared memory counts once for each that uses it, so this errs upwards. (`smaps_rollup` would be exact: 10 to 30 times the work.)
 */
export function memoryOf(session: number): number {
  let kilobytes = 0;
  for (const pid of processesOf(session, TABLE_FRESH_MS)) {
    const status = contents(`/proc/${pid}/status`);
    for (const [, amount] of status.matchAll(/^Rss(?:Anon|Shmem):\s*(\d+) kB$/gm)) kilobytes += Number(amount);
  }
  return kilobytes * 1_024;
}

/** Kills every process of a session; resolves when none is left, or throws after 10 s. */
export async function killSession(session: number): Promise<void> {
  const deadlineMs = performance.now() + GONE_MAX_MS;
  for (let left = processesOf(session); left.length > 0; left = processesOf(session)) {
    if (performance.now() > deadlineMs)
      throw new Error(`Processes of session ${session} do not end: ${left.join(', ')}`);
    for (const pid of left) kill(pid);
    await sleep(POLL_MS);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

/** A process may end at any time. */
function contents(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
