import { setImmediate } from 'node:timers/promises';
import type { DeploymentLog, DeploymentPlace, LoggedDeployment } from '../../deployments/deployment-log-cache.ts';
import type { History } from '../../../code/git/graph/commit-graph-cache.ts';
import type { Range } from '../../../code/git/graph/range-cache.ts';
import { commitsOfRanges } from '../../../code/git/graph/range-facts.ts';
import type { Packages } from '../../deployments/report-rules.ts';
import { versionComparison } from '../../../kernel/text/version-rules.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { versionsOf } from '../changelogs/resolved-changes.ts';
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
const CHANGES_MAX = 20_000;
/** Changes that are gone through before others are served. */
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
 * For each deployment within a period the times from the dates of its commits. A commit counts when it comes to an
 * environment first within that period. The first deployment of a domain there has no times, as nothing tells what was there
 * before, nor has one that was rolled back. What a deployment brought is found once and kept.
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
    const transitionOf = createTransitions();
    await findSteps(
      tx,
      history,
      state,
      parts.flatMap((part) => missingSteps(part, unknown, transitionOf)),
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

/** What an installation does to what ran before it. */
interface Transition {
  /** Upgrades and installations. */
  changes: readonly PackageChange[];
  /** What runs afterwards. */
  running: Packages;
}

/** The transition from what ran to what was installed: the same for the same objects. */
type TransitionOf = (running: Packages | undefined, installed: Packages) => Transition;

/** Releases travel: the same changes come to one environment after another, and are made and compared once. */
function createTransitions(): TransitionOf {
  const compare = versionComparison();
  const known = new Map<Packages | undefined, Map<Packages, Transition>>();
  const transition = (running: Packages | undefined, installed: Packages): Transition => {
    if (!running) return { changes: NO_CHANGES, running: installed };
    const changes = packageChanges(running, installed).filter((change) => directionOf(change, compare) !== 'downgrade');
    const isAll = Object.keys(running).every((name) => Object.hasOwn(installed, name));
    // A name may be `__proto__`.
    const both = () => Object.assign(Object.create(null), running, installed) as Packages;
    return { changes, running: isAll ? installed : both() };
  };
  return (running, installed) => {
    let after = known.get(running);
    if (!after) known.set(running, (after = new Map()));
    let found = after.get(installed);
    if (!found) after.set(installed, (found = transition(running, installed)));
    return found;
  };
}

/** The deployments of a place whose steps are not found yet, with the changes of each. */
function missingSteps(
  { installed, steps, bounds: [from, to] }: PlaceSteps & { bounds: Bounds },
  unknown: string,
  transitionOf: TransitionOf,
): Wanted[] {
  const isMissing = (index: number) => {
    const step = steps[index];
    return index >= from && (step === undefined || (step.missing > 0 && step.unknown !== unknown));
  };
  if (!installed.slice(0, to).some((_, index) => isMissing(index))) return [];
  const wanted: Wanted[] = [];
  let running: Packages | undefined;
  for (const [index, { packages }] of installed.slice(0, to).entries()) {
    const transition = transitionOf(running, packages);
    if (isMissing(index)) wanted.push({ steps, index, changes: transition.changes });
    running = transition.running;
  }
  return wanted;
}

const NO_CHANGES: readonly PackageChange[] = [];

async function findSteps(tx: Tx, history: History, state: VersionState, wanted: readonly Wanted[]): Promise<void> {
  const unknown = await state.unknown();
  const found = new Map<readonly PackageChange[], Step>();
  const commitsOf = commitsOfRanges(history);
  let gone = 0;
  for (const lists of inParts([...new Set(wanted.map(({ changes }) => changes))])) {
    const commitOf = await knownVersionCommits(tx, history, state, versionsOf(lists.flat()));
    const broughtBy = bringing(history, commitOf, commitsOf);
    for (const changes of lists) {
      const commits = new Set<number>();
      let missing = 0;
      for (const change of changes) {
        if (gone++ % CHANGES_AT_ONCE === 0) await setImmediate();
        const brought = broughtBy(change);
        if (brought) for (const commit of brought) commits.add(commit);
        else missing++;
      }
      found.set(changes, { commits: [...commits], missing, unknown });
    }
  }
  for (const { steps, index, changes } of wanted) steps[index] = found.get(changes);
}

/** Lists in parts that each have `CHANGES_MAX` changes or little more. */
function inParts(lists: readonly (readonly PackageChange[])[]): (readonly PackageChange[])[][] {
  const parts: (readonly PackageChange[])[][] = [];
  let room = 0;
  for (const changes of lists) {
    if (room <= 0) {
      parts.push([]);
      room = CHANGES_MAX;
    }
    parts.at(-1)?.push(changes);
    room -= changes.length;
  }
  return parts;
}

/** What changes bring: the commits of their package between those of its versions; undefined: they are not known. */
function bringing(
  history: History,
  commitOf: (version: PackageVersion) => number | undefined,
  commitsOf: (range: Range) => readonly number[],
): (change: PackageChange) => readonly number[] | undefined {
  if (whyNothingIsKnown(history) !== undefined) return () => undefined;
  const end = (name: string, version: string | null) => (version === null ? null : commitOf({ name, version }));
  return ({ name, from: before, to: after }) => {
    const packageNo = history.packages.get(name)?.packageNo;
    const from = end(name, before);
    const to = end(name, after);
    if (packageNo === undefined || from === undefined || to === undefined) return undefined;
    return to === null ? [] : commitsOf({ packageNo, from, to });
  };
}
