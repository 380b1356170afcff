import { setImmediate } from 'node:timers/promises';
import type { DeploymentLog, DeploymentPlace, LoggedDeployment } from '../deployments/deployment-log-cache.ts';
import type { History } from '../git/commit-graph-cache.ts';
import { commitsOfRanges } from '../git/range-facts.ts';
import type { Packages } from '../deployments/report-rules.ts';
import { memoized } from '../shared/memoized.ts';
import type { Tx } from '../unit-of-work.ts';
import { resolveChanges } from './changelog.ts';
import { firstFrom } from '../shared/ordered-rules.ts';
import type { Window } from './metrics-rules.ts';
import { directionOf, type PackageChange, packageChanges } from './package-change-rules.ts';
import { type VersionState, versionState } from './version-commit-cache.ts';

const atOf = ({ at }: LoggedDeployment): number => at;

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
const CHANGES_MAX = 2_000;
/** Deployments that are gone through before others are served. */
const DEPLOYMENTS_AT_ONCE = 100;

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
      bounds: [firstFrom(own.installed, window.from, atOf), firstFrom(own.installed, window.to, atOf)] satisfies Bounds,
    };
  });
  if (parts.some(isIncomplete)) {
    const unknown = await state.unknown();
    const changesBetween = createChangesBetween();
    await findSteps(
      tx,
      history,
      state,
      parts.flatMap((part) => missingSteps(part, unknown, changesBetween)),
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
      if ((index - from) % DEPLOYMENTS_AT_ONCE === DEPLOYMENTS_AT_ONCE - 1) await setImmediate();
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

/** The changes from what ran to what was installed: the same objects for the same changes. */
type ChangesBetween = (
  running: Packages,
  before: Packages | undefined,
  installed: Packages,
) => readonly PackageChange[];

/** Releases travel: the same changes come to one environment after another, and are made and compared once. */
function createChangesBetween(): ChangesBetween {
  const byKey = new Map<string, PackageChange>();
  const ofWhole = new Map<Packages, Map<Packages, readonly PackageChange[]>>();
  const changesTo = (running: Packages, installed: Packages) =>
    packageChanges(running, installed).flatMap((change) => {
      if (directionOf(change) === 'downgrade') return [];
      const key = `${change.name}\n${change.from}\n${change.to}`;
      const known = byKey.get(key) ?? change;
      byKey.set(key, known);
      return known;
    });
  return (running, before, installed) => {
    // As many names as were installed last: nothing else runs.
    if (before === undefined || Object.keys(running).length !== Object.keys(before).length)
      return changesTo(running, installed);
    const known = ofWhole.get(before) ?? new Map<Packages, readonly PackageChange[]>();
    ofWhole.set(before, known);
    const changes = known.get(installed) ?? changesTo(running, installed);
    known.set(installed, changes);
    return changes;
  };
}

/** The deployments of a place whose steps are not found yet, with the changes of each. */
function missingSteps(
  { installed, steps, bounds: [from, to] }: PlaceSteps & { bounds: Bounds },
  unknown: string,
  changesBetween: ChangesBetween,
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
      isFirst || !isMissing(index) ? NO_CHANGES : changesBetween(running, installed[index - 1]?.packages, packages);
    Object.assign(running, packages);
    return isMissing(index) ? { steps, index, changes } : [];
  });
}

const NO_CHANGES: readonly PackageChange[] = [];

interface Brought {
  commits: readonly number[];
  isMissing: boolean;
}

async function findSteps(tx: Tx, history: History, state: VersionState, wanted: readonly Wanted[]): Promise<void> {
  const unknown = await state.unknown();
  const changes = [...new Set(wanted.flatMap((step) => step.changes))];
  const brought = new Map<PackageChange, Brought>();
  const commitsOf = commitsOfRanges(history);
  for (let at = 0; at < changes.length; at += CHANGES_MAX) {
    const part = changes.slice(at, at + CHANGES_MAX);
    const resolved = await resolveChanges(tx, history, part, state);
    for (const [index, change] of part.entries()) {
      const { range, missing = null } = resolved[index] ?? {};
      brought.set(change, { commits: range ? commitsOf(range) : [], isMissing: missing !== null });
    }
    await setImmediate();
  }
  const stepOf = memoized((own: readonly PackageChange[]): Step => {
    const found = own.flatMap((change) => brought.get(change) ?? []);
    return {
      commits: [...new Set(found.flatMap(({ commits }) => commits))],
      missing: found.filter(({ isMissing }) => isMissing).length,
      unknown,
    };
  });
  for (const { steps, index, changes: own } of wanted) steps[index] = stepOf(own);
}
