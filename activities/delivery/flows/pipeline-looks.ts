import { LRUCache } from 'lru-cache';

/** How often a minute a host of a tenant is asked by a worker only so that people see more; each time by 5 calls at most. */
const LOOKS_PER_MINUTE = 4;
const MINUTE_MS = 60_000;
/** However long a host wants to be left alone: what it says is not trusted with more. */
const PAUSE_MAX_MS = 15 * MINUTE_MS;
const KEPT_MAX = 10_000;

/** Where a pipeline is executed. */
export interface Place {
  tenantId: string;
  platform: string | null;
  /** Projects may have credentials of their own, whose limits are theirs. */
  projectId: string | null;
}

interface Budget {
  left: number;
  /** When it is full again. */
  until: number;
}

/** What this process may still ask hosts for the output of pipelines. */
export class PipelineLooks {
  readonly #budgets = new LRUCache<string, Budget>({ max: KEPT_MAX });
  readonly #pauses = new LRUCache<string, number>({ max: KEPT_MAX });
  readonly #asked = new LRUCache<string, number>({ max: KEPT_MAX });
  readonly #perMinute: number;

  constructor(perMinute = LOOKS_PER_MINUTE) {
    this.#perMinute = perMinute;
  }

  /** Takes one look at a host. `none`, `paused`: only what must be asked is asked now. */
  take(place: Place, now: number): 'taken' | 'none' | 'paused' {
    if ((this.#pauses.get(projectKey(place)) ?? 0) > now) return 'paused';
    const host = hostKey(place);
    const budget = this.#budgets.get(host);
    if (!budget || budget.until <= now) {
      this.#budgets.set(host, { left: this.#perMinute - 1, until: now + MINUTE_MS });
      return 'taken';
    }
    if (budget.left <= 0) return 'none';
    budget.left--;
    return 'taken';
  }

  /** A host wants to be left alone for a time. */
  pause(place: Place, forMs: number, now: number): void {
    this.#pauses.set(projectKey(place), now + Math.min(forMs, PAUSE_MAX_MS));
  }

  /** When the host of a run was asked by this process last, in milliseconds since the epoch; 0: it was not, or long ago. */
  askedAt(runId: string): number {
    return this.#asked.get(runId) ?? 0;
  }

  /** The host of a run is asked now. */
  noteAsked(runId: string, now: number): void {
    this.#asked.set(runId, now);
  }
}

const hostKey = ({ tenantId, platform }: Place): string => `${tenantId}/${platform}`;
const projectKey = (place: Place): string => `${hostKey(place)}/${place.projectId}`;
