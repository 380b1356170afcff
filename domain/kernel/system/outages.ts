import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { reasonOf } from '../shared/logged-error-rules.ts';
import { within } from '../queues/within.ts';

export type DependencyName = 'postgresql' | 'temporal' | 'metrics' | 'objects';

/** Something that a process reaches over the network. */
export interface Dependency {
  /** Name of the dependency in `GET /readyz`. */
  name: DependencyName;
  /** Begins the sentences of the log about it: `PostgreSQL`. */
  title: string;
  /** What happens while it is away, for operators. */
  meanwhile: string;
  /** The API accepts requests without it, and their effects come later. */
  isOptional?: boolean;
  /** Resolves if it answers, otherwise rejects. */
  check: () => Promise<unknown>;
  /** Whether an error may come from its being away. */
  mayExplain: (error: unknown) => boolean;
}

/** Told of an error that says that a dependency is away. Returns at once. */
export type ReportAway = (error: unknown) => void;

/** An entry of the log that is about to be written. */
export interface Entry {
  write: () => void;
  /** Writes it for those who look closely. */
  writeDebug: () => void;
}

const CHECK_EVERY_MS = 1_000;
const CHECK_TIMEOUT_MS = 5_000;
/** What failed during an outage may be told of some time after it. */
const AFTERMATH_MS = 15_000;
const HELD_MAX = 100;

/** What may be an outage, from the first error on: the dependency is away once it has not answered to a check either. */
interface Outage {
  dependency: Dependency;
  isAway: boolean;
  /** Entries that wait for the first check. */
  held: Entry[];
}

/**
 * The outages that a process meets. Each is two entries of its log, when it begins and when it is over, and what fails
 * because of it is logged at `debug`.
 */
export class Outages {
  readonly #log: Pick<Logger, 'warn' | 'error'>;
  readonly #watched = new Map<DependencyName, Dependency>();
  readonly #current = new Map<Dependency, Outage>();
  readonly #endedAt = new Map<Dependency, number>();
  #isStopped = false;

  constructor(log: Pick<Logger, 'warn' | 'error'>) {
    this.#log = log;
  }

  /** Reports of these are looked into from now on. */
  watch(...dependencies: readonly Dependency[]): void {
    for (const dependency of dependencies) this.#watched.set(dependency.name, dependency);
  }

  /** For whoever meets errors of the dependency of this name. */
  reporter(name: DependencyName): ReportAway {
    return (error) => {
      const dependency = this.#watched.get(name);
      if (!dependency || this.#isStopped || this.#current.has(dependency)) return;
      const outage = { dependency, isAway: false, held: [] };
      this.#current.set(dependency, outage);
      void this.#follow(outage, error);
    };
  }

  /** Writes an entry about an error, unless that comes from an outage. */
  log(error: unknown, entry: Entry): void {
    const outage = this.#current.values().find(({ dependency }) => dependency.mayExplain(error));
    if (outage && !outage.isAway && outage.held.length < HELD_MAX) outage.held.push(entry);
    else if (outage?.isAway || this.#isAftermath(error)) entry.writeDebug();
    else entry.write();
  }

  /** Nothing is looked into any more: connections are about to be closed. */
  stop(): void {
    this.#isStopped = true;
  }

  async #follow(outage: Outage, error: unknown): Promise<void> {
    const { dependency } = outage;
    const { title, meanwhile, isOptional = false } = dependency;
    const since = performance.now();
    for (;;) {
      const found = await stateOf(dependency, CHECK_TIMEOUT_MS);
      if (this.#isStopped) return;
      if (found.state === 'up') break;
      if (!outage.isAway) {
        outage.isAway = true;
        this.#log[isOptional ? 'warn' : 'error']({ reason: found.reason }, `${title} does not answer: ${meanwhile}`);
        for (const entry of outage.held.splice(0)) entry.writeDebug();
      }
      await sleep(CHECK_EVERY_MS, undefined, { ref: false });
    }
    const wasAway = this.#isAfter(dependency);
    this.#current.delete(dependency);
    if (outage.isAway) {
      this.#endedAt.set(dependency, performance.now());
      const awaySeconds = Math.round((performance.now() - since) / 100) / 10;
      this.#log.warn({ awaySeconds }, `${title} answers again`);
    } else if (wasAway) for (const entry of outage.held) entry.writeDebug();
    else if (outage.held.length > 0) for (const entry of outage.held) entry.write();
    else this.#log.warn({ reason: reasonOf(error) }, `${title} failed for a moment, and answers`);
  }

  #isAfter(dependency: Dependency): boolean {
    const endedAt = this.#endedAt.get(dependency);
    return endedAt !== undefined && performance.now() - endedAt < AFTERMATH_MS;
  }

  #isAftermath(error: unknown): boolean {
    return this.#endedAt.keys().some((dependency) => this.#isAfter(dependency) && dependency.mayExplain(error));
  }
}

/** Whether a dependency answers in time; else why not. */
export async function stateOf(
  { check }: Pick<Dependency, 'check'>,
  timeoutMs: number,
): Promise<{ state: 'up' } | { state: 'down'; reason: string }> {
  const late = () => ({ state: 'down', reason: `no answer within ${timeoutMs / 1_000} s` }) as const;
  try {
    return await within(
      timeoutMs,
      check().then(() => ({ state: 'up' }) as const),
      late,
    );
  } catch (error) {
    return { state: 'down', reason: reasonOf(error) };
  }
}
