import type { PromotionPolicy } from '../../projects/policies/promotion-policy-rules.ts';
import { byArrival, deploymentFact, isEffective, openPackages } from '../deployments/deployed-rules.ts';
import type { SeriesDeployment } from '../deployments/installed-series-rules.ts';
import { inUseSince, type SoakReport } from '../deployments/soak-rules.ts';
import type { VerificationFact } from '../verification/verification-rules.ts';
import { type Demands, waitingFor } from './promotable-rules.ts';

/** A deployment as it is known now; moments in milliseconds since the epoch. */
export interface PastDeployment extends SeriesDeployment {
  id: string;
  domain: string;
  receivedAt: number;
}

/** What a verification of a deployment came to. */
export interface PastVerification {
  state: 'pending' | 'running' | 'verified' | 'failed' | 'superseded';
  createdAt: number;
  endedAt: number | null;
  detail: string | null;
}

/** Tells the contents of releases apart. */
export const contentOf = ({ domain, releaseName, contentDigest }: PastDeployment): string =>
  `${domain}\n${releaseName}\n${contentDigest ?? ''}`;

/** Older ones first: those of the same moment as they came. */
const inOrder = (a: PastDeployment, b: PastDeployment): number => a.at - b.at || byArrival(a, b);

/** Everything that was deployed to one environment. */
export class EnvironmentPast {
  readonly #all: readonly PastDeployment[];
  readonly #byContent: ReadonlyMap<string, PastDeployment[]>;
  readonly #verificationsOf: (id: string) => readonly PastVerification[];

  constructor(
    deployments: readonly PastDeployment[],
    verificationsOf: (id: string) => readonly PastVerification[] = () => [],
  ) {
    this.#all = deployments.toSorted(inOrder);
    this.#byContent = Map.groupBy(this.#all, contentOf);
    this.#verificationsOf = verificationsOf;
  }

  /**
   * Since when the content of a deployment elsewhere was in use here at a moment, by what was deployed then; null: it was
   * replaced; undefined: it was not deployed.
   */
  inUse(deployment: PastDeployment, artifacts: Record<string, string>, moment: number): number | null | undefined {
    const own = this.#ownUntil(deployment, moment);
    const [first] = own;
    if (!first) return undefined;
    const { domain } = deployment;
    const content = { candidateId: nameOf(deployment), contentDigest: deployment.contentDigest ?? '', artifacts };
    const reports = own.map((each) => asOf(each, moment));
    const all = (from: number) => this.#between(from, moment).map((each) => asOf(each, moment));
    const isOpen = openPackages(content, reports) !== undefined;
    if (!deploymentFact(content, isOpen ? all(-Infinity) : reports).isDeployed) return undefined;
    // What installed all of it leaves nothing to what was there before.
    const from = first.installsAll ? first.at : -Infinity;
    return inUseSince({ ...content, domain }, all(from).filter(concerns(domain, artifacts)));
  }

  /** What the last verification of that content said here at a moment. */
  verification(deployment: PastDeployment, moment: number): VerificationFact {
    const last = this.#ownUntil(deployment, moment).findLast((each) => isEffective(asOf(each, moment)));
    const begun = (last ? this.#verificationsOf(last.id) : []).filter(({ createdAt }) => createdAt <= moment);
    const newest = begun.findLast(({ state }) => state !== 'superseded') ?? begun.at(-1);
    if (!newest) return { state: null, endedAt: null, detail: null };
    const { state, endedAt, detail } = newest;
    return endedAt !== null && endedAt <= moment
      ? { state, endedAt, detail }
      : { state: 'running', endedAt: null, detail: null };
  }

  #ownUntil(deployment: PastDeployment, moment: number): PastDeployment[] {
    return (this.#byContent.get(contentOf(deployment)) ?? []).filter(({ at }) => at <= moment);
  }

  #between(from: number, to: number): readonly PastDeployment[] {
    return this.#all.slice(
      firstIndex(this.#all, (at) => at >= from),
      firstIndex(this.#all, (at) => at > to),
    );
  }
}

/** The index of the first deployment whose moment fits; all later ones do. */
function firstIndex(all: readonly PastDeployment[], fits: (at: number) => boolean): number {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(all[middle]?.at ?? 0)) high = middle;
    else low = middle + 1;
  }
  return low;
}

const nameOf = ({ domain, releaseName }: PastDeployment): string => `${domain}\n${releaseName}`;

const concerns =
  (domain: string, artifacts: Record<string, string>) =>
  (report: SoakReport): boolean =>
    report.domain === domain || Object.keys(report.installed).some((name) => Object.hasOwn(artifacts, name));

/** A deployment as it was known at a moment, as if each had been reported when it was made. */
function asOf(deployment: PastDeployment, moment: number): SoakReport {
  const { id, domain, contentDigest, status, at, receivedAt, rolledBackAt, packages: installed } = deployment;
  const isRolledBack = rolledBackAt !== null && rolledBackAt <= moment;
  return {
    id,
    candidateId: nameOf(deployment),
    contentDigest: contentDigest ?? '',
    status,
    deployedAt: at,
    receivedAt,
    knownAt: at,
    isRolledBack,
    takenBackAt: isRolledBack ? rolledBackAt : null,
    installed,
    domain,
  };
}

/** What an environment would have asked for. */
export interface ProposedPolicy {
  environmentName: string;
  promotion: PromotionPolicy | null;
  /** What an approval costs that was not given, in milliseconds; null: that is not known, and counts as nothing here. */
  approvalMs: number | null;
}

/** What would have become of a deployment. */
export type Judged =
  | { outcome: 'goes' }
  | { outcome: 'refused'; reason: string }
  /** `until`: in milliseconds since the epoch; null: when something else is deployed again. */
  | { outcome: 'waits'; reason: string; until: number | null };

/**
 * What would have become of a deployment under a policy, by itself: what must come before refuses it, an approval, a soak
 * and a window cost time.
 * @param pastOf environments by name.
 * @param artifacts all packages of its content.
 */
export function judgePast(
  deployment: PastDeployment,
  { environmentName, promotion: policy, approvalMs }: ProposedPolicy,
  pastOf: (name: string) => EnvironmentPast | undefined,
  artifacts: Record<string, string>,
): Judged {
  const asked = deployment.at;
  const start = asked + (approvalMs ?? 0);
  const deployed = new Map<string, number | null>();
  const verifications = new Map<string, VerificationFact>();
  for (const name of policy?.after ?? []) {
    const since = pastOf(name)?.inUse(deployment, artifacts, asked);
    if (since === undefined) continue;
    deployed.set(name, since);
    if (policy?.requireVerified) verifications.set(name, pastOf(name)?.verification(deployment, asked) ?? NONE);
  }
  const demands: Demands = { environmentName, policy, deployed, verifications };
  const waiting = waitingFor([demands], start);
  if (!waiting) {
    if (start === asked) return { outcome: 'goes' };
    return { outcome: 'waits', reason: `${environmentName} asks for an approval`, until: start };
  }
  const { nextAt, reason, missing } = waiting;
  const isReplaced = missing.length > 0 && missing.every((name) => deployed.get(name) === null);
  if (nextAt === null && !isReplaced) return { outcome: 'refused', reason };
  return { outcome: 'waits', reason, until: nextAt };
}

const NONE: VerificationFact = { state: null, endedAt: null, detail: null };
