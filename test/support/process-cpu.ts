import { readdirSync, readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';

/** Linux counts in hundredths of a second, whatever the kernel's own clock is (proc(5), `sysconf(_SC_CLK_TCK)`). */
const TICKS_PER_SECOND = 100;

export interface ProcessCpu {
  parent: number;
  /** Seconds of the process itself. */
  own: number;
  /** Seconds of its children that have ended, with theirs. */
  ended: number;
}

/** CPU of a process by proc(5); zero where there is none, or no such file system. */
export function cpuOf(pid: number): ProcessCpu {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program stands in parentheses and may hold any character.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = (place: number) => Number(fields[place]) / TICKS_PER_SECOND;
    return { parent: Number(fields[1]), own: ticks(11) + ticks(12), ended: ticks(13) + ticks(14) };
  } catch {
    return { parent: 0, own: 0, ended: 0 };
  }
}

/** All processes below one, with that one. */
export function processesBelow(root: number): Map<number, ProcessCpu> {
  const all = new Map<number, ProcessCpu>();
  for (const name of readNames('/proc')) if (/^\d+$/.test(name)) all.set(Number(name), cpuOf(Number(name)));
  const isBelow = (pid: number): boolean => pid === root || (all.has(pid) && isBelow(all.get(pid)?.parent ?? 0));
  return new Map([...all].filter(([pid]) => isBelow(pid)));
}

const readNames = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

export interface MachineTimes {
  user: number;
  system: number;
  idle: number;
  /** What the machine wanted and another one on the same hardware got. */
  steal: number;
}

/** Seconds of all cores since the machine started. */
export function machineTimes(): MachineTimes {
  const line = readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '';
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = line
    .split(/\s+/)
    .slice(1)
    .map((ticks) => Number(ticks) / TICKS_PER_SECOND);
  return { user: user + nice, system: system + irq + softirq, idle: idle + iowait, steal };
}

/** Load of the last minute, and how many cores it is for. */
export const loadNow = (): string => `${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores`;
