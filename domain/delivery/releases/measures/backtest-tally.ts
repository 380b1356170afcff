import type { Judged, PastDeployment } from '../../promotion/backtest-rules.ts';

interface Affected {
  releaseName: string;
  domain: string;
  deployedAt: Date;
  reason: string;
}

export interface EnvironmentBacktest {
  environment: string;
  /** How many were looked at. */
  deployments: number;
  refused: Affected[];
  refusedTotal: number;
  /** `until`: null where it would have waited until something else is deployed again. */
  waited: (Affected & { waitSeconds: number | null; until: Date | null })[];
  waitedTotal: number;
  /** What an approval costs; null: none is asked for anew, or nobody gave one there yet. */
  approvalSeconds: number | null;
  /** The median of those that go, from commit to deployment. `after` is null where the cost of an approval is not known. */
  leadTimeSeconds: { before: number | null; after: number | null };
}

/** How many of each outcome are listed, the newest. */
const LISTED_MAX = 500;

/** What became of the deployments to one environment. */
export class BacktestTally {
  readonly #environment: string;
  readonly #medianMs: number | null;
  readonly #isAsked: boolean;
  readonly #refused: EnvironmentBacktest['refused'] = [];
  readonly #waited: EnvironmentBacktest['waited'] = [];
  readonly #before: number[] = [];
  readonly #after: number[] = [];
  #count = 0;
  #lacksCost = false;

  /** @param environment its name. */
  constructor(environment: string, { isAsked, medianMs }: { isAsked: boolean; medianMs: number | null }) {
    this.#environment = environment;
    this.#medianMs = medianMs;
    this.#isAsked = isAsked;
  }

  add(
    { releaseName, domain, at, status }: PastDeployment,
    judged: Judged,
    { bornAt, lacksCost }: { bornAt: number | null; lacksCost: boolean },
  ): void {
    this.#count++;
    this.#lacksCost ||= lacksCost;
    const until = judged.outcome === 'waits' ? judged.until : at;
    if (judged.outcome !== 'goes') {
      const affected = { releaseName, domain, deployedAt: new Date(at), reason: judged.reason };
      if (judged.outcome === 'refused') this.#refused.push(affected);
      else this.#waited.push({ ...affected, ...waitUntil(at, until) });
    }
    // A release of history that was imported may be younger than its deployment.
    if (judged.outcome === 'refused' || until === null || status !== 'Success' || bornAt === null || bornAt > at)
      return;
    this.#before.push(at - bornAt);
    this.#after.push(until - bornAt);
  }

  shown(): EnvironmentBacktest {
    return {
      environment: this.#environment,
      deployments: this.#count,
      refused: this.#refused.slice(-LISTED_MAX),
      refusedTotal: this.#refused.length,
      waited: this.#waited.slice(-LISTED_MAX),
      waitedTotal: this.#waited.length,
      approvalSeconds: this.#isAsked ? secondsOf(this.#medianMs) : null,
      leadTimeSeconds: { before: median(this.#before), after: this.#lacksCost ? null : median(this.#after) },
    };
  }
}

const waitUntil = (at: number, until: number | null) => ({
  waitSeconds: until === null ? null : secondsOf(until - at),
  until: until === null ? null : new Date(until),
});

const secondsOf = <Ms extends number | null>(ms: Ms): Ms => (ms === null ? ms : Math.round(ms / 1_000)) as Ms;

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  return middle === undefined ? null : secondsOf(middle);
}
