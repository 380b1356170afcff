import { setImmediate } from 'node:timers/promises';
import type { DeploymentLog, DeploymentPlace, LoggedDeployment } from '../../deployments/deployment-log-cache.ts';
import type { History } from '../../../code/git/graph/commit-graph-cache.ts';
import type { Range } from '../../../code/git/graph/range-cache.ts';
import { commitsOfRanges } from '../../../code/git/graph/range-facts.ts';
import type { Packages } from '../../deployments/report-rules.ts';
import { memoized } from '../../../kernel/caches/memoized.ts';
import { versionComparison } from '../../../kernel/text/version-rules.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { versionsOf } from '../changelogs/changelog.ts';
import { firstFrom } from '../../../kernel/shared/ordered-rules.ts';
import type { Window } from './metrics-rules.ts';
import { whyNothingIsKnown } from '../changelogs/missing-changelog-rules.ts';
import { directionOf, type PackageChange, packageChanges } from '../changelogs/package-change-rules.ts';
import type { PackageVersion } from '../versions/package-versions.queries.ts';
import { knownVersionCommits, type VersionState, versionState } from '../versions/version-commit-cache.ts';

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
/** Changes whose versions are looked up together. */
const CHANGES_MAX = 10_000;
/** Those that are gone through before others are served. */
const CHANGES_AT_ONCE = 1_000;
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

/** The changes from what ran to what was installed: the same list for the same objects. */
type ChangesBetween = (running: Packages, installed: Packages) => readonly PackageChange[];

/** Releases travel: the same changes come to one environment after another, and are made and compared once. */
function createChangesBetween(): ChangesBetween {
  const compare = versionComparison();
  const known = new Map<Packages, Map<Packages, readonly PackageChange[]>>();
  return (running, installed) => {
    const after = known.get(running) ?? new Map<Packages, readonly PackageChange[]>();
    known.set(running, after);
    const changes =
      after.get(installed) ??
      packageChanges(running, installed).filter((change) => directionOf(change, compare) !== 'downgrade');
    after.set(installed, changes);
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
  const wanted: Wanted[] = [];
  const names = new Set<string>();
  let running: Packages | undefined;
  for (const [index, { packages }] of installed.slice(0, to).entries()) {
    if (isMissing(index))
      wanted.push({ steps, index, changes: running ? changesBetween(running, packages) : NO_CHANGES });
    const installedNames = Object.keys(packages);
    for (const name of installedNames) names.add(name);
    // Nothing else runs: the same object again. A name may be `__proto__`.
    running =
      names.size === installedNames.length
        ? packages
        : (Object.assign(Object.create(null), running, packages) as Packages);
  }
  return wanted;
}

const NO_CHANGES: readonly PackageChange[] = [];

interface Brought {
  commits: readonly number[];
  isMissing: boolean;
}

async function findSteps(tx: Tx, history: History, state: VersionState, wanted: readonly Wanted[]): Promise<void> {
  const unknown = await state.unknown();
  const lists = [...new Set(wanted.map(({ changes }) => changes))];
  const changes = lists.flat();
  const brought = new Map<PackageChange, Brought>();
  const commitsOf = commitsOfRanges(history);
  for (let at = 0; at < changes.length; at += CHANGES_MAX) {
    const part = changes.slice(at, at + CHANGES_MAX);
    const broughtBy = bringing(history, await knownVersionCommits(tx, history, state, versionsOf(part)), commitsOf);
    for (const [index, change] of part.entries()) {
      if (index % CHANGES_AT_ONCE === 0) await setImmediate();
      brought.set(change, broughtBy(change));
    }
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

/** What changes bring: the commits of their package between those of its versions. */
function bringing(
  history: History,
  commitOf: (version: PackageVersion) => number | undefined,
  commitsOf: (range: Range) => readonly number[],
): (change: PackageChange) => Brought {
  const isNothingKnown = whyNothingIsKnown(history) !== undefined;
  const end = (name: string, version: string | null) => (version === null ? null : commitOf({ name, version }));
  return ({ name, from: before, to: after }) => {
    const packageNo = history.packages.get(name)?.packageNo;
    const [from, to] = [end(name, before), end(name, after)];
    if (isNothingKnown || packageNo === undefined || from === undefined || to === undefined) return MISSING;
    return { commits: to === null ? [] : commitsOf({ packageNo, from, to }), isMissing: false };
  };
}

const MISSING: Brought = { commits: [], isMissing: true };
