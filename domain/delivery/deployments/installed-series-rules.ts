import { type DeploymentStatus, isSuccess } from '../release-candidates/finalization-rules.ts';
import { firstFrom } from '../../kernel/shared/ordered-rules.ts';
import { INSTALLING } from './deployed-rules.ts';
import type { Packages } from './report-rules.ts';

/** What of a deployment decides what its environment ran. Moments in milliseconds since the epoch. */
export interface SeriesDeployment {
  releaseName: string;
  at: number;
  status: DeploymentStatus;
  rolledBackAt: number | null;
  /** Digest of the content that was deployed. */
  contentDigest: string | null;
  /** Commit of that content; null: it is not known. */
  commitSha: string | null;
  /** What it installed. */
  packages: Packages;
  /** All packages of its release. */
  installsAll: boolean;
}

/** What an environment runs of a domain: what a deployment installed, over what ran below it. */
export interface Running<Deployment> {
  deployment: Deployment;
  below: Running<Deployment> | undefined;
  arrival: ReleaseArrival<Deployment>;
}

/** A release as it came to an environment, until another one came over it or it was taken back. */
export interface ReleaseArrival<Deployment> {
  releaseName: string;
  /** What ran when it came; undefined: nothing. */
  before: Running<Deployment> | undefined;
  /** The deployments that installed it, in order. */
  deployments: Deployment[];
}

/** What ran from one moment to another. */
export interface Stretch<Deployment> {
  from: number;
  /** Null: it runs now. */
  to: number | null;
  /** Undefined: nothing, since all was taken back. */
  running: Running<Deployment> | undefined;
}

/** What an environment ran of a domain. */
export interface InstalledSeries<Deployment> {
  /** In order; the first begins with the first installation. */
  stretches: readonly Stretch<Deployment>[];
  /** In order. A release that came several times is in it several times. */
  arrivals: readonly ReleaseArrival<Deployment>[];
  /** What ran when a deployment was made, also one that installed nothing. */
  before: ReadonlyMap<Deployment, Running<Deployment> | undefined>;
}

/**
 * What an environment ran of one domain, from when to when. A deployment installs its packages over those that run, from
 * `at` until it is taken back; then what was below it runs again, and what came over it stays. Others install nothing.
 * @param deployments to the environment, of the domain, in order.
 */
export function installedSeries<Deployment extends SeriesDeployment>(
  deployments: readonly Deployment[],
): InstalledSeries<Deployment> {
  const stretches: Stretch<Deployment>[] = [];
  const arrivals: ReleaseArrival<Deployment>[] = [];
  const before = new Map<Deployment, Running<Deployment> | undefined>();
  let running: Running<Deployment> | undefined;
  const run = (next: typeof running, from: number) => {
    running = next;
    const last = stretches.at(-1);
    if (last) last.to = from;
    stretches.push({ from, to: null, running });
  };
  const takenBack = [...Map.groupBy(deployments.filter(isTakenBackLater), ({ rolledBackAt }) => rolledBackAt ?? 0)];
  takenBack.sort(([a], [b]) => a - b);
  let next = 0;
  const takeBackUntil = (moment: number) => {
    for (let each = takenBack[next]; each && each[0] <= moment; each = takenBack[++next])
      run(without(running, new Set(each[1])), each[0]);
  };
  for (const deployment of deployments) {
    takeBackUntil(deployment.at);
    before.set(deployment, running);
    if (!INSTALLING.includes(deployment.status)) continue;
    const { releaseName, at, rolledBackAt } = deployment;
    const below = running;
    const arrival = below?.arrival.releaseName === releaseName ? below.arrival : newArrival(releaseName, below);
    if (arrival !== below?.arrival) arrivals.push(arrival);
    arrival.deployments.push(deployment);
    if (rolledBackAt === null || rolledBackAt > at) run({ deployment, below, arrival }, at);
  }
  takeBackUntil(Infinity);
  return { stretches, arrivals, before };
}

const isTakenBackLater = ({ status, at, rolledBackAt }: SeriesDeployment): boolean =>
  INSTALLING.includes(status) && rolledBackAt !== null && rolledBackAt > at;

const newArrival = <Deployment>(
  releaseName: string,
  before: Running<Deployment> | undefined,
): ReleaseArrival<Deployment> => ({ releaseName, before, deployments: [] });

/** What runs after some deployments were taken back. */
function without<Deployment>(
  running: Running<Deployment> | undefined,
  gone: ReadonlySet<Deployment>,
): Running<Deployment> | undefined {
  const staying: Running<Deployment>[] = [];
  let [node, left] = [running, gone.size];
  for (; node && left > 0; node = node.below)
    if (gone.has(node.deployment)) left--;
    else staying.push(node);
  return staying.reduceRight((below, { deployment, arrival }) => ({ deployment, below, arrival }), node);
}

/** What runs now. */
export const runningNow = <Deployment>({ stretches }: InstalledSeries<Deployment>): Running<Deployment> | undefined =>
  stretches.at(-1)?.running;

/** What ran just before a moment. */
export const runningBefore = <Deployment>(
  { stretches }: InstalledSeries<Deployment>,
  moment: number,
): Running<Deployment> | undefined => stretches[firstFrom(stretches, moment, ({ from }) => from) - 1]?.running;

/** What runs without a release: what was there before it. */
export function exceptRelease<Deployment extends SeriesDeployment>(
  running: Running<Deployment> | undefined,
  releaseName: string,
): Running<Deployment> | undefined {
  let node = running;
  while (node?.deployment.releaseName === releaseName) node = node.below;
  return node;
}

/** The deployments that make up what runs, in order. */
export function deploymentsOf<Deployment>(running: Running<Deployment> | undefined): Deployment[] {
  const deployments: Deployment[] = [];
  for (let node = running; node; node = node.below) deployments.push(node.deployment);
  return deployments.toReversed();
}

/** Whether a deployment brought its release: one of nothing at all brings it only if the release has no packages. */
const isOfRelease = ({ status, installsAll, packages }: SeriesDeployment): boolean =>
  isSuccess(status) && (installsAll || Object.keys(packages).length > 0);

/** The deployment that brought the release that runs: the last success. @param except a release that does not count. */
export function lastSuccess<Deployment extends SeriesDeployment>(
  running: Running<Deployment> | undefined,
  except?: string,
): Deployment | undefined {
  let node = running;
  while (node && (node.deployment.releaseName === except || !isOfRelease(node.deployment))) node = node.below;
  return node?.deployment;
}

/** The deployment that installed a package last. */
export function lastWith<Deployment extends SeriesDeployment>(
  running: Running<Deployment> | undefined,
  name: string,
): Deployment | undefined {
  let node = running;
  while (node && !Object.hasOwn(node.deployment.packages, name)) node = node.below;
  return node?.deployment;
}

/** How many deployments are gone through at most, once the packages below them are kept. */
const KEPT_EVERY = 32;
const kept = new WeakMap<object, Packages>();

/** Package name to version of what runs: of each package the last installation counts. */
export function packagesOf<Deployment extends SeriesDeployment>(running: Running<Deployment> | undefined): Packages {
  const above: Running<Deployment>[] = [];
  let node = running;
  for (; node && !kept.has(node); node = node.below) above.push(node);
  // A name may be `__proto__`.
  const packages = Object.assign(Object.create(null) as Record<string, string>, node && kept.get(node));
  for (const [index, each] of above.toReversed().entries()) {
    Object.assign(packages, each.deployment.packages);
    if ((index + 1) % KEPT_EVERY === 0) kept.set(each, Object.assign(Object.create(null), packages) as Packages);
  }
  return packages;
}

/**
 * How a release came to an environment: the first time of those that were not taken back. Else the last time. Undefined
 * where none of its deployments succeeded.
 */
export function arrivalOf<Deployment extends SeriesDeployment>(
  { arrivals }: Pick<InstalledSeries<Deployment>, 'arrivals'>,
  releaseName: string,
): ReleaseArrival<Deployment> | undefined {
  const own = arrivals.filter(
    (each) => each.releaseName === releaseName && each.deployments.some(({ status }) => isSuccess(status)),
  );
  return own.find(({ deployments }) => deployments.some(({ rolledBackAt }) => rolledBackAt === null)) ?? own.at(-1);
}

/** The packages of a release as its reports installed them together, those of earlier contents excepted. */
export function packagesOfArrival({ deployments }: ReleaseArrival<SeriesDeployment>): Packages {
  const content = deployments.at(-1)?.contentDigest;
  return Object.assign(
    Object.create(null),
    ...deployments.filter(({ contentDigest }) => contentDigest === content).map(({ packages }) => packages),
  ) as Packages;
}
