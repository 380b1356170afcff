import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds of CPU by the name of the process. */
export type CpuTimes = Record<string, number>;

/** The kernel counts in hundredths of a second on every Linux platform that Node supports. */
const MS_PER_TICK = 10;

/** CPU that each process has used since it began, with all its threads and descendants, also those that have ended. */
export function cpuTimes(pids: Readonly<Record<string, number>>): CpuTimes {
  const processes = readProcesses();
  const ofTree = (pid: number): number => {
    const children = processes.filter(({ parent }) => parent === pid);
    const own = processes.find((one) => one.pid === pid)?.ms ?? 0;
    return children.reduce((sum, child) => sum + ofTree(child.pid), own);
  };
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, ofTree(pid)]));
}

/** The ids of the processes that a process has started itself. */
export const childrenOf = (pid: number): number[] =>
  readProcesses()
    .filter(({ parent }) => parent === pid)
    .map((child) => child.pid);

interface ProcessTimes {
  pid: number;
  parent: number;
  /** In user and kernel mode, and the same of children that have ended. */
  ms: number;
}

/** See proc_pid_stat(5): after the name, which may hold blanks, come the state and the parent. */
function readProcesses(): ProcessTimes[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      const ticks = fields.slice(11, 15).reduce((sum, each) => sum + each, 0);
      return [{ pid: Number(entry), parent: fields[1] ?? 0, ms: ticks * MS_PER_TICK }];
    } catch {
      return []; // It ended in between.
    }
  });
}
