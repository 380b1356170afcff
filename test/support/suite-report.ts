import { rmSync, writeFileSync } from 'node:fs';
import { cpuOfFile, type OverBudget, overBudget, readBudgets, writeBudgets } from './budgets.ts';
import { slowness } from './calibration.ts';
import { findBundles, makeBundles } from '../../tools/programs/programs.ts';
import { beginMeasures, type FileMeasure, measuresFolder, readMeasures } from './measures.ts';
import { loadNow, machineTimes } from './process-cpu.ts';
import { ProcessKinds } from './process-kinds.ts';
import { testFiles } from './projects.ts';

const SHOWN_FILES = 15;
const FILES_PER_CALIBRATION = 10;
const FILES_FOR_BUNDLES = 50;
/** Calibrations that do not count, since their code has just begun to run and is not compiled yet. */
const UNCOUNTED_CALIBRATIONS = 5;

/** What the file of `MEASURES_FILE` holds. */
export interface Measures {
  /** Seconds of CPU by test file. */
  cpu: [file: string, seconds: number][];
  overBudget: OverBudget[];
}

interface RunResults {
  numTotalTestSuites: number;
  testResults: readonly { testFilePath: string }[];
}

/**
 * A Jest reporter that prints, after a run of several files, what they cost: wall-clock, CPU, set-up and waiting of each,
 * the CPU of each kind of process, and the load of the machine. In CI it fails the run when a file, or the whole suite,
 * used more CPU than its budget; `UPDATE_BUDGETS=true` writes the budgets, and `MEASURES_FILE` names a file
 * for the measures, as JSON.
 */
export default class SuiteReport {
  readonly #began = performance.now();
  readonly #machine = machineTimes();
  readonly #loadAtStart = loadNow();
  readonly #kinds = new ProcessKinds();
  readonly #slowness: number[] = [];
  #filesDone = 0;
  #over: OverBudget[] = [];

  constructor() {
    beginMeasures();
    for (let round = 0; round < UNCOUNTED_CALIBRATIONS; round++) slowness();
  }

  /** Bundles of the programs pay where many are started; those that start before run from the sources. */
  onRunStart({ numTotalTestSuites }: RunResults): void {
    if (numTotalTestSuites >= FILES_FOR_BUNDLES)
      void makeBundles((line) => process.stderr.write(`${line}\n`)).then(findBundles);
  }

  onTestFileResult(): void {
    if (this.#filesDone++ % FILES_PER_CALIBRATION === 0) this.#slowness.push(slowness());
  }

  onRunComplete(_contexts: unknown, { testResults }: RunResults): void {
    const folder = measuresFolder() ?? '';
    const measures = readMeasures(folder);
    rmSync(folder, { recursive: true, force: true });
    const kinds = this.#kinds.end();
    const { MEASURES_FILE, UPDATE_BUDGETS } = process.env;
    if (testResults.length < 2 && !MEASURES_FILE) return;
    const isWhole = testResults.length === Object.values(testFiles()).flat().length;
    const factor = median(this.#slowness);
    print([...this.#files(measures), ...this.#sums(measures, kinds, factor)]);
    if (UPDATE_BUDGETS) writeBudgets(measures, factor);
    this.#over = overBudget(measures, { budgets: readBudgets(), slowness: factor, isWhole });
    print(this.#over.map(({ sentence }) => sentence));
    if (!MEASURES_FILE) return;
    const cpu = measures.map((measure): [string, number] => [measure.file, cpuOfFile(measure)]);
    writeFileSync(MEASURES_FILE, JSON.stringify({ cpu, overBudget: this.#over } satisfies Measures));
  }

  getLastError(): Error | undefined {
    if (!process.env.CI || this.#over.length === 0) return undefined;
    return new Error(this.#over.map(({ sentence }) => sentence).join('\n'));
  }

  #files(measures: readonly FileMeasure[]): string[] {
    const slowest = measures.toSorted((a, b) => b.wall - a.wall).slice(0, SHOWN_FILES);
    return [
      '',
      `Slowest of ${measures.length} files, in seconds:`,
      '   wall    CPU  set-up  waiting',
      ...slowest.map((measure) => {
        const cpu = cpuOfFile(measure);
        const figures = [measure.wall, cpu, setUpOf(measure), Math.max(0, measure.wall - cpu)];
        return `${figures.map((figure) => figure.toFixed(1).padStart(7)).join('')}  ${measure.file}`;
      }),
    ];
  }

  #sums(measures: readonly FileMeasure[], kinds: readonly (readonly [string, number])[], factor: number): string[] {
    const { user, system, idle, steal } = machineTimes();
    const before = this.#machine;
    const used = user + system - before.user - before.system;
    const phases = new Map<string, number>();
    for (const { phases: each } of measures)
      for (const [phase, { wall }] of Object.entries(each)) phases.set(phase, (phases.get(phase) ?? 0) + wall);
    const wall = (performance.now() - this.#began) / 1_000;
    return [
      `Wall-clock by phase: ${list([...phases].toSorted(([, a], [, b]) => b - a))}.`,
      `CPU by kind of process: ${list(kinds.filter(([, seconds]) => seconds >= 0.5))}.`,
      `CPU of the machine: ${used.toFixed(0)} s (user ${(user - before.user).toFixed(0)}, system ${(system - before.system).toFixed(0)}), idle ${(idle - before.idle).toFixed(0)}, stolen ${(steal - before.steal).toFixed(0)}; of all files ${sumOf(measures).toFixed(0)}.`,
      `Wall-clock ${wall.toFixed(0)} s; load ${this.#loadAtStart} at the start, ${loadNow()} at the end; CPU took ${factor.toFixed(2)} times as long as where the budgets were written.`,
    ];
  }
}

const sumOf = (measures: readonly FileMeasure[]): number =>
  measures.reduce((seconds, measure) => seconds + cpuOfFile(measure), 0);

const setUpOf = ({ phases }: FileMeasure): number =>
  (phases.beforeAll?.wall ?? 0) + (phases.beforeEach?.wall ?? 0) + (phases.import?.wall ?? 0);

const list = (sums: readonly (readonly [string, number])[]): string =>
  sums.map(([name, seconds]) => `${name} ${seconds.toFixed(0)}`).join(', ');

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 1;

const print = (lines: readonly string[]): void => {
  if (lines.length > 0) process.stderr.write(`${lines.join('\n')}\n`);
};
