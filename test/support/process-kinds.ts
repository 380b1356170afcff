import { readFileSync } from 'node:fs';
import { processesBelow } from './process-cpu.ts';

/** A look reads a file of every process of the machine. */
const EVERY_MS = 2_000;

/** By what stands on their command lines; the first that fits counts. */
const KINDS: readonly (readonly [string, RegExp])[] = [
  ['Jest', /jest-worker|\/jest(\.js)?\b/],
  ['Chromium', /chrom/],
  ['ffmpeg', /ffmpeg/],
  ['browser hosts', /browser-host/],
  ['workers', /activities[/-]main/],
  ['APIs', /api[/-]main/],
  ['npm start', /tools\/start/],
  ['bundler', /bundle-/],
  ['PostgreSQL', /postgres/],
  ['Temporal', /temporal/],
  ['metrics store', /victoria-metrics/],
  ['git', /\bgit\b/],
];

/**
 * Watches the processes below this one and sums up their CPU by kind. What a process used since the last look, less than
 * two seconds, is missed.
 */
export class ProcessKinds {
  readonly #seen = new Map<number, { kind: string; seconds: number }>();
  readonly #timer = setInterval(() => this.#look(), EVERY_MS);

  constructor() {
    this.#timer.unref();
  }

  /** Stops watching. Seconds by kind, the most first. */
  end(): [kind: string, seconds: number][] {
    clearInterval(this.#timer);
    this.#look();
    const sums = new Map<string, number>();
    for (const { kind, seconds } of this.#seen.values()) sums.set(kind, (sums.get(kind) ?? 0) + seconds);
    return [...sums].toSorted(([, a], [, b]) => b - a);
  }

  #look(): void {
    for (const [pid, { own }] of processesBelow(process.pid)) {
      // A process begins under the name of the one that started it.
      this.#seen.set(pid, { kind: kindOf(pid) ?? this.#seen.get(pid)?.kind ?? 'others', seconds: own });
    }
  }
}

function kindOf(pid: number): string | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    if (line === '') return undefined;
    return KINDS.find(([, pattern]) => pattern.test(line))?.[0] ?? 'others';
  } catch {
    return undefined;
  }
}
