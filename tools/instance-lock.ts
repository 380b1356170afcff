import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorError } from './operator-error.ts';

interface Instance {
  pid: number;
  /** Programs that the instance started in groups of their own, by what their command line contains. */
  servers: { pid: number; program: string }[];
}

const STOP_MS = 10_000;

export interface InstanceLock {
  /** Notes a server, so that the next start can stop it when this instance is killed. */
  note: (pid: number, program: string) => void;
  release: () => void;
}

/**
 * Makes this process the only instance on a data directory. Where the last one was killed, the servers that it left
 * running are stopped first. Throws `OperatorError` when another instance is alive.
 */
export async function lockInstance(dataDir: string): Promise<InstanceLock> {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, 'instance.json');
  const instance: Instance = { pid: process.pid, servers: [] };
  for (;;) {
    try {
      writeFileSync(file, JSON.stringify(instance), { flag: 'wx', mode: 0o600 });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      await reclaim(file, dataDir);
    }
  }
  return {
    note(pid, program) {
      instance.servers.push({ pid, program });
      writeFileSync(file, JSON.stringify(instance), { mode: 0o600 });
    },
    release: () => rmSync(file, { force: true }),
  };
}

/** The instance that holds the data directory; undefined when none is alive. */
export function liveInstance(dataDir: string): number | undefined {
  const pid = read(join(dataDir, 'instance.json'))?.pid;
  return pid !== undefined && isAlive(pid) ? pid : undefined;
}

async function reclaim(file: string, dataDir: string): Promise<void> {
  const found = read(file);
  if (found && found.pid !== process.pid && isAlive(found.pid) && /start|node/.test(commandOf(found.pid))) {
    throw new OperatorError(`DATA_DIR ${dataDir} is in use by another instance (process ${found.pid}); stop it, or set DATA_DIR to another folder.`);
  }
  for (const { pid, program } of found?.servers ?? []) await stopLeftover(pid, program);
  rmSync(file, { force: true });
}

function read(file: string): Instance | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Instance;
  } catch {
    return undefined;
  }
}

async function stopLeftover(pid: number, program: string): Promise<void> {
  // The number may belong to another program by now.
  const isStill = () => isAlive(pid) && commandOf(pid).includes(program);
  if (!isStill()) return;
  process.kill(pid, 'SIGINT');
  const deadline = Date.now() + STOP_MS;
  while (isStill()) {
    if (Date.now() > deadline) process.kill(pid, 'SIGKILL');
    await sleep(50);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch (error) {
    // Without /proc the signal alone decides.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && (error as NodeJS.ErrnoException).syscall === 'open';
  }
}

/** The command line of a process; empty where it cannot be read, so that nothing unknown is stopped. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
