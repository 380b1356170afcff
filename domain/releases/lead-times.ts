import { setImmediate } from 'node:timers/promises';
import type { DeploymentLog, DeploymentPlace, LoggedDeployment } from '../deployments/deployment-log-cache.ts';
import type { History } from '../git/commit-graph-cache.ts';
import { rangeFacts } from '../git/range-facts.ts';
import type { Tx } from '../unit-of-work.ts';
import { resolveChanges } from './changelog.ts';
import { firstFrom, type Window } from './metrics-rules.ts';
import { directionOf, type PackageChange, packageChanges } from './package-change-rules.ts';
import { versionState } from './version-commit-cache.ts';

/** What a deployment brought to its place. */
interface Step {
  commits: readonly number[];
  /** Changes whose commits are not known. */
  missing: number;
  /** `VersionState.unknown` of when it was found. */
  unknown: string;
}

/** The steps of a place; undefined: not needed yet. */
interface PlaceSteps {
  installed: readonly LoggedDeployment[];
  steps: (Step | undefined)[];
}

/** Steps by place, while `VersionState.known` is the same. */
interface CachedSteps {
  known: string;
  places: Map<string, PlaceSteps>;
}

const cache = new WeakMap<object, CachedSteps>();
/** Changes that are resolved together; others are served in between. */
const CHANGES_MAX = 500;

export interface LeadTimes {
  /** Milliseconds from the date of each commit to the deployment by which it came. */
  of: (deployment: LoggedDeployment) => readonly number[];
  /** Package changes whose commits are not known. */
  missing: number;
}

/**
 * Of each deployment within a time the times from the dates of its commits. A commit counts when it comes to an
 * environment first within that time; neither the first deployment of a domain there has any, as nothing tells what was
 * there before, nor has one that was rolled back. What a deployment brought is found once and kept.
 */
export async function leadTimes(
  tx: Tx,
  history: History,
  log: DeploymentLog,
  places: readonly DeploymentPlace[],
  window: Window,
): Promise<LeadTimes> {
  const state = await versionState(tx, history);
  const cached = cache.get(log.owner);
  const kept = cached?.known === state.known ? cached : { known: state.known, places: new Map<string, PlaceSteps>() };
  cache.set(log.owner, kept);
  const parts = places.map((place) => {
    const own = stepsOf(kept, place);
    return {
      ...own,
      bounds: [firstFrom(own.installed, window.from), firstFrom(own.installed, window.to)] satisfies Bounds,
    };
  });
  if (parts.some(isIncomplete)) {
    const unknown = await state.unknown();
    await findSteps(
      tx,
      history,
      parts.flatMap((part) => missingSteps(part, unknown)),
      unknown,
    );
  }
  const times = new Map<LoggedDeployment, number[]>();
  let missing = 0;
  for (const {
    installed,
    steps,
    bounds: [from, to],
  } of parts) {
    const arrived = new Uint8Array(history.graph.size);
    for (let index = from; index < to; index++) {
      const [deployment, step] = [installed[index], steps[index]];
      if (!deployment || !step) continue;
      missing += step.missing;
      const own: number[] = [];
      for (const commit of step.commits) {
        if (arrived[commit] === 1) continue;
        arrived[commit] = 1;
        own.push(Math.max(0, deployment.at - history.graph.dateOf(commit) * 1_000));
      }
      times.set(deployment, own);
    }
  }
  return { of: (deployment) => times.get(deployment) ?? [], missing };
}

/** The steps of a place as far as what was installed there up to them is what it was. */
function stepsOf(kept: CachedSteps, { environmentId, domain, installed }: DeploymentPlace): PlaceSteps {
  const key = `${environmentId}\n${domain}`;
  const before = kept.places.get(key);
  if (before?.installed === installed) return before;
  const changed = installed.findIndex((each, index) => each !== before?.installed[index]);
  const steps = before?.steps.slice(0, changed < 0 ? installed.length : changed) ?? [];
  const place = { installed, steps };
  kept.places.set(key, place);
  return place;
}

/** The first of some places in a list, and the first after them. */
type Bounds = readonly [number, number];

/** Whether there is a step that is not found, or of which something was not known. */
function isIncomplete({ steps, bounds: [from, to] }: PlaceSteps & { bounds: Bounds }): boolean {
  for (let index = from; index < to; index++) if (steps[index]?.missing !== 0) return true;
  return false;
}

interface Wanted {
  steps: (Step | undefined)[];
  index: number;
  changes: readonly PackageChange[];
}

/** The deployments of a place whose steps are not found yet, with the changes of each. */
function missingSteps(
  { installed, steps, bounds: [from, to] }: PlaceSteps & { bounds: Bounds },
  unknown: string,
): Wanted[] {
  const isMissing = (index: number) => {
    const step = steps[index];
    return index >= from && (step === undefined || (step.missing > 0 && step.unknown !== unknown));
  };
  if (!installed.slice(0, to).some((_, index) => isMissing(index))) return [];
  // A name may be `__proto__`.
  const running = Object.create(null) as Record<string, string>;
  return installed.slice(0, to).flatMap(({ packages }, index) => {
    const isFirst = index === 0;
    const changes =
      isFirst || !isMissing(index)
        ? []
        : packageChanges(running, packages).filter((change) => directionOf(change) !== 'downgrade');
    Object.assign(running, packages);
    return isMissing(index) ? { steps, index, changes } : [];
  });
}

interface Brought {
  commits: readonly number[];
  isMissing: boolean;
}

const changeKey = ({ name, from, to }: PackageChange): string => `${name}\n${from}\n${to}`;

async function findSteps(tx: Tx, history: History, wanted: readonly Wanted[], unknown: string): Promise<void> {
  // Releases travel: the same changes come to one environment after another.
  const changes = [
    ...new Map(wanted.flatMap((step) => step.changes.map((change) => [changeKey(change), change] as const))),
  ];
  const brought = new Map<string, Brought>();
  for (let at = 0; at < changes.length; at += CHANGES_MAX) {
    const part = changes.slice(at, at + CHANGES_MAX);
    const resolved = await resolveChanges(
      tx,
      history,
      part.map(([, change]) => change),
    );
    const ranges = await rangeFacts(
      tx,
      history,
      resolved.flatMap(({ range }) => range ?? []),
    );
    for (const [index, { range, missing }] of resolved.entries())
      brought.set(part[index]?.[0] ?? '', {
        commits: range ? ranges.of(range).commits : [],
        isMissing: missing !== null,
      });
    await setImmediate();
  }
  for (const { steps, index, changes: own } of wanted) {
    const found = own.flatMap((change) => brought.get(changeKey(change)) ?? []);
    steps[index] = {
      commits: [...new Set(found.flatMap(({ commits }) => commits))],
      missing: found.filter(({ isMissing }) => isMissing).length,
      unknown,
    };
  }
}
