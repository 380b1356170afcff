import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from './operator-error.ts';
import { identityOf, stopProcess } from './process-table.ts';

interface Noted {
  pid: number;
  /** Tells it from a later process of the same number. */
  identity: string;
}

interface Instance extends Noted {
  /** What the instance started, in the order in which it has to stop. */
  parts: (Noted & { name: string; signal: NodeJS.Signals })[];
  /** Where it answers on this machine; absent until it does. */
  url?: string;
  /** Address of the metrics store that it uses. */
  metricsUrl?: string;
}

const STOP_MS = 15_000;

export interface InstanceLock {
  /** Notes a part, so that the next start can stop it when this instance is killed. */
  note: (part: { name: string; pid: number; signal: NodeJS.Signals }) => void;
  /** Notes where the instance and its metrics store answer, so that commands on this machine find them. */
  noteUrl: (url: string, metricsUrl?: string) => void;
  release: () => void;
}

/**
 * Makes this process the only instance on a data directory. Where the last one was killed, what it left running is
 * stopped first. Throws `OperatorError` when another instance is alive.
 */
export async function lockInstance(dataDir: string): Promise<InstanceLock> {
  makeDataDir(dataDir);
  const file = join(dataDir, 'instance.json');
  const draft = `${file}.${process.pid}`;
  const instance: Instance = { ...notedOf(process.pid), parts: [] };
  const write = () => writeFileSync(draft, JSON.stringify(instance), { mode: 0o600 });
  const replace = () => {
    write();
    renameSync(draft, file);
  };
  write();
  try {
    // A link appears with its content and never replaces another instance's.
    while (!isLinked(draft, file)) await reclaim(file, dataDir);
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    note({ name, pid, signal }) {
      // One of the same name has ended before. The last to start is the first to stop.
      instance.parts = instance.parts.filter((part) => part.name !== name);
      instance.parts.unshift({ ...notedOf(pid), name, signal });
      replace();
    },
    noteUrl(url, metricsUrl) {
      instance.url = url;
      if (metricsUrl !== undefined) instance.metricsUrl = metricsUrl;
      replace();
    },
    release: () => rmSync(file, { force: true }),
  };
}

/** The instance that runs on a data directory, and where it answers once it does. */
export function runningInstance(dataDir: string): Pick<Instance, 'url' | 'metricsUrl'> | undefined {
  const found = read(join(dataDir, 'instance.json'));
  if (!found || !isAlive(found)) return undefined;
  const { url, metricsUrl } = found;
  return { ...(url !== undefined && { url }), ...(metricsUrl !== undefined && { metricsUrl }) };
}

const notedOf = (pid: number): Noted => ({ pid, identity: identityOf(pid) ?? '' });
const isAlive = ({ pid, identity }: Noted) => identity !== '' && identityOf(pid) === identity;

function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true });
    const probe = join(dataDir, `.probe.${process.pid}`);
    writeFileSync(probe, '');
    rmSync(probe);
  } catch (error) {
    throw new OperatorError(`DATA_DIR ${dataDir} cannot be written to: ${(error as NodeJS.ErrnoException).code}.`);
  }
}

function isLinked(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function reclaim(file: string, dataDir: string): Promise<void> {
  const found = read(file);
  if (found && isAlive(found)) {
    throw new OperatorError(
      `DATA_DIR ${dataDir} is in use by another instance (process ${found.pid}): stop it, or set DATA_DIR to another folder.`,
    );
  }
  for (const part of found?.parts ?? []) {
    if (isAlive(part)) await stopProcess(part.pid, part.signal, STOP_MS);
  }
  // Another start may have reclaimed it meanwhile: only what was read above is removed.
  if (read(file)?.identity === found?.identity) rmSync(file, { force: true });
}

function read(file: string): Instance | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Instance;
  } catch {
    return undefined;
  }
}
