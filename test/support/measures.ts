import { appendFileSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuOf } from './process-cpu.ts';

/** What is measured of a test file: wall-clock and CPU, and how both divide into phases. Seconds. */
export interface FileMeasure {
  file: string;
  wall: number;
  /** CPU of the process that ran the tests, with all its threads. */
  own: number;
  /** CPU of processes that the tests started and that have ended. */
  started: number;
  /** By phase: `import`, `beforeAll`, `test`, ... */
  phases: Record<string, { wall: number; cpu: number }>;
}

/** Jest's processes append to files of this folder what they measure; the reporter reads them in the end. */
const FOLDER = 'QS_MEASURES';

export function beginMeasures(): void {
  process.env[FOLDER] = mkdtempSync(join(tmpdir(), 'quayside-measures-'));
}

export const measuresFolder = (): string | undefined => process.env[FOLDER];

export function readMeasures(folder: string): FileMeasure[] {
  return readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as FileMeasure),
  );
}

interface Moment {
  wallMs: number;
  cpu: NodeJS.CpuUsage;
}

const now = (): Moment => ({ wallMs: performance.now(), cpu: process.cpuUsage() });

/** Seconds since a moment. */
function since({ wallMs, cpu }: Moment): { wall: number; cpu: number } {
  const { user, system } = process.cpuUsage(cpu);
  return { wall: (performance.now() - wallMs) / 1_000, cpu: (user + system) / 1_000_000 };
}

/** Measures one test file from its begin to `end`. */
export class FileClock {
  readonly #file: string;
  readonly #began = now();
  readonly #startedBefore = cpuOf(process.pid).ended;
  readonly #phases: FileMeasure['phases'] = {};

  constructor(file: string) {
    this.#file = file;
  }

  /** Begins a phase; the function that it answers ends it. */
  begin(phase: string): () => void {
    const from = now();
    return () => this.#add(phase, since(from));
  }

  /** Adds all until now. */
  soFar(phase: string): void {
    this.#add(phase, since(this.#began));
  }

  end(): void {
    const { wall, cpu: own } = since(this.#began);
    const started = cpuOf(process.pid).ended - this.#startedBefore;
    const measure: FileMeasure = { file: this.#file, wall, own, started, phases: this.#phases };
    const folder = measuresFolder();
    if (folder) appendFileSync(join(folder, String(process.pid)), `${JSON.stringify(measure)}\n`);
  }

  #add(phase: string, { wall, cpu }: { wall: number; cpu: number }): void {
    const sum = (this.#phases[phase] ??= { wall: 0, cpu: 0 });
    sum.wall += wall;
    sum.cpu += cpu;
  }
}
