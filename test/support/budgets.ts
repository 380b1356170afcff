import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FileMeasure } from './measures.ts';

const FILE = join(fileURLToPath(new URL('..', import.meta.url)), 'budgets.json');

/** A file that needs no more than this is not listed: CPU and wall-clock, in seconds. */
const UNLISTED = { cpu: 4, wall: 5 };

/** A budget is more than was measured: no two runs are the same. */
const RESERVE = 1.2;

/** Twice the same run differ by less; under a machine's load the rest is taken out by `slowness`. */
const TOLERANCE = 1.5;

/** What a test file may use of the machine on which the budgets were written; `wall` only decides which begins first. */
interface Budget {
  cpu: number;
  wall: number;
}

export interface Budgets {
  /** Seconds of CPU that all files of the run take; the servers are not in it. */
  sum: number;
  files: Record<string, Budget>;
}

export const readBudgets = (): Budgets => JSON.parse(readFileSync(FILE, 'utf8')) as Budgets;

export const cpuOfFile = ({ own, started }: FileMeasure): number => own + started;

export function writeBudgets(measures: readonly FileMeasure[], slowness: number): void {
  const up = (seconds: number) => Math.ceil((seconds / Math.max(1, slowness)) * 2) / 2;
  const listed = measures
    .map((measure) => [measure.file, { cpu: up(cpuOfFile(measure) * RESERVE), wall: up(measure.wall) }] as const)
    .filter(([, { cpu, wall }]) => cpu > UNLISTED.cpu || wall > UNLISTED.wall)
    .toSorted(([a], [b]) => a.localeCompare(b));
  const sum = up(measures.reduce((seconds, measure) => seconds + cpuOfFile(measure), 0) * RESERVE);
  writeFileSync(FILE, `${JSON.stringify({ sum, files: Object.fromEntries(listed) } satisfies Budgets, null, 2)}\n`);
}

/** More CPU than a budget permits: of one file, or of all of them. */
export interface OverBudget {
  /** None: the sum of all files. */
  file?: string;
  sentence: string;
}

/** What used more CPU than it may. The sum counts only where the whole suite ran. */
export function overBudget(
  measures: readonly FileMeasure[],
  { budgets, slowness, isWhole }: { budgets: Budgets; slowness: number; isWhole: boolean },
): OverBudget[] {
  const factor = TOLERANCE * Math.max(1, slowness);
  const sum = measures.reduce((seconds, measure) => seconds + cpuOfFile(measure), 0);
  const over = measures.flatMap((measure): OverBudget[] => {
    const cpu = Math.max(budgets.files[measure.file]?.cpu ?? 0, UNLISTED.cpu);
    const used = cpuOfFile(measure);
    if (used <= cpu * factor) return [];
    const sentence = `${measure.file} used ${used.toFixed(1)} s of CPU; its budget is ${cpu} s.`;
    return [{ file: measure.file, sentence }];
  });
  if (isWhole && sum > budgets.sum * factor)
    over.push({ sentence: `All files used ${sum.toFixed(0)} s of CPU; their budget is ${budgets.sum} s.` });
  return over;
}
