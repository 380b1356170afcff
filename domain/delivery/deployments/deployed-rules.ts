import { type DeploymentStatus, isSuccess } from '../release-candidates/finalization-rules.ts';
import { type Packages, versionOf } from './report-rules.ts';

/** A stored report of a deployment to one environment. */
export interface StoredReport {
  id: string;
  candidateId: string | null;
  /** Digest of the content that was deployed. */
  contentDigest: string | null;
  status: DeploymentStatus;
  /** When it was deployed, as it was reported; milliseconds since the epoch. */
  deployedAt: number;
  /** When the report came, by the database's clock, in milliseconds since the epoch. */
  receivedAt: number;
  isRolledBack: boolean;
  /** What it installed: package name to version. */
  installed: Packages;
}

/** A stored report of a release whose candidate was removed. */
export interface RemovedReport extends Omit<StoredReport, 'candidateId'> {
  environmentId: string;
  domain: string;
  releaseName: string;
  /** Packages that it is about: name to version. */
  packages: Packages;
}

/** The content whose deployment is in question. */
export interface ContentFacts {
  candidateId: string;
  contentDigest: string;
  artifacts: Packages;
}

/**
 * Why a candidate is not deployed. never, other_content: it was never reported there, or only with other content;
 * failed, rolled_back: its last report failed or was taken back; partial: packages are missing.
 */
export const MISSING_REASONS = ['never', 'failed', 'rolled_back', 'partial', 'other_content'] as const;
export type MissingReason = (typeof MISSING_REASONS)[number];

export interface DeploymentFact {
  isDeployed: boolean;
  /** Since when, in ISO 8601: the moment of the report by which it was complete. Null while it is not deployed. */
  deployedAt: string | null;
  /** Null when it is deployed. */
  reason: MissingReason | null;
  /** The candidate's packages that were not installed, by name; all while nothing of this content is there. */
  packages: string[];
  /** Other content of the candidate was deployed there. */
  hasOtherContent: boolean;
}

type Arrived = Pick<StoredReport, 'id' | 'receivedAt'>;
type Aged = Arrived & Pick<StoredReport, 'deployedAt'>;

/** Among reports of the same moment, the one that came first is the older. */
export const byArrival = (a: Arrived, b: Arrived): number =>
  a.receivedAt - b.receivedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** Older reports first: those of the same moment as they came. */
export const byAge = (a: Aged, b: Aged): number => a.deployedAt - b.deployedAt || byArrival(a, b);

/** Older ones first. */
export const inOrder = <Report extends Aged>(reports: readonly Report[]): readonly Report[] =>
  reports.length > 1 ? reports.toSorted(byAge) : reports;

/** Statuses of reports that install something. */
export const INSTALLING: readonly DeploymentStatus[] = ['Success', 'Partial'];

/** Whether a report changed what its environment runs. */
export const isEffective = ({ status, isRolledBack }: Pick<StoredReport, 'status' | 'isRolledBack'>): boolean =>
  !isRolledBack && INSTALLING.includes(status);

/** Package name to version, as reports left it: of each package the newest effective one wins. */
export const runningPackages = (reports: readonly StoredReport[]): Packages =>
  Object.assign(
    {},
    ...reports
      .filter(isEffective)
      .toSorted(byAge)
      .map(({ installed }) => installed),
  );

/**
 * What the reports of a content leave open, so that those of other candidates decide: packages that its first effective
 * report, since it was last rolled back, did not install. Undefined: nothing.
 * @param reports of the candidate to one environment.
 */
export function openPackages(
  { candidateId, contentDigest, artifacts }: ContentFacts,
  reports: readonly StoredReport[],
): { first: StoredReport; packages: string[] } | undefined {
  const isOwn = (each: StoredReport) => each.candidateId === candidateId && each.contentDigest === contentDigest;
  const own = inOrder(reports.filter(isOwn));
  const begins = own.findLastIndex(({ isRolledBack }) => isRolledBack) + 1;
  const first = own.find((each, at) => at >= begins && isEffective(each));
  if (!first || first.installed === artifacts) return undefined;
  const packages = Object.keys(artifacts).filter((name) => versionOf(first.installed, name) !== artifacts[name]);
  return packages.length === 0 ? undefined : { first, packages };
}

/**
 * Whether a candidate is deployed to an environment. A package counts when a report of this content installed it in the
 * candidate's version, or when it ran there in that version by another candidate's report at a moment from the first
 * report of this content on; later releases undo neither. A failed report undoes it until the next that did not fail; a
 * report that was rolled back undoes it and all before it. A report whose `installed` is the very object of the content's
 * artifacts takes the least time.
 * @param reports to the environment: all of the candidate, and of others those that installed packages that are open.
 */
export function deploymentFact(content: ContentFacts, reports: readonly StoredReport[]): DeploymentFact {
  const progress = new Progress(content, sortedNames(content.artifacts));
  for (const report of inOrder(reports)) progress.add(report);
  return progress.fact();
}

const namesOf = new WeakMap<Packages, readonly string[]>();

/** The names of packages; kept, as a content is asked about for many environments. */
function sortedNames(artifacts: Packages): readonly string[] {
  const names = namesOf.get(artifacts) ?? Object.keys(artifacts).toSorted();
  namesOf.set(artifacts, names);
  return names;
}

class Progress {
  private readonly content: ContentFacts;
  private readonly names: readonly string[];
  /** Installed by this content: all packages, or these. */
  private isWhole = false;
  private installed: Set<string> | undefined;
  /** Run in the candidate's version by another candidate's report. */
  private borrowed: Set<string> | undefined;
  /** The last report of this content that was not cancelled. */
  private last: StoredReport | undefined;
  private hasBegun = false;
  private wasComplete = false;
  private hasOtherContent = false;
  private since: number | null = null;

  constructor(content: ContentFacts, names: readonly string[]) {
    this.content = content;
    this.names = names;
  }

  add(report: StoredReport): void {
    const { candidateId, contentDigest, status } = report;
    const isOfCandidate = candidateId === this.content.candidateId;
    const isOwn = isOfCandidate && contentDigest === this.content.contentDigest;
    if (isOfCandidate && !isOwn && INSTALLING.includes(status)) this.hasOtherContent = true;
    if (isOwn && status !== 'Cancelled') this.last = report;
    if (isOwn && report.isRolledBack) this.beginAgain();
    if (isEffective(report)) this.install(report, isOwn, isOfCandidate);
    this.assess(report.deployedAt);
  }

  private beginAgain(): void {
    this.isWhole = false;
    this.installed = undefined;
    this.hasBegun = false;
    this.wasComplete = false;
  }

  private install({ installed, status }: StoredReport, isOwn: boolean, isOfCandidate: boolean): void {
    if (isOwn && (isSuccess(status) || this.names.length > 0)) this.hasBegun = true;
    if (isOwn && installed === this.content.artifacts) {
      this.isWhole = true;
      return;
    }
    for (const name of this.names) {
      const version = versionOf(installed, name);
      if (version === undefined) continue;
      if (version !== this.content.artifacts[name]) this.borrowed?.delete(name);
      else if (isOwn) (this.installed ??= new Set()).add(name);
      else if (!isOfCandidate) (this.borrowed ??= new Set()).add(name);
    }
  }

  /** Notes since when it is deployed. */
  private assess(at: number): void {
    this.wasComplete ||= this.hasBegun && this.missing().length === 0;
    const isDeployed = this.wasComplete && this.last?.status !== 'Failed';
    this.since = isDeployed ? (this.since ?? at) : null;
  }

  private missing(): string[] {
    if (this.isWhole) return [];
    return this.names.filter((name) => !this.installed?.has(name) && !this.borrowed?.has(name));
  }

  fact(): DeploymentFact {
    const { last, since, hasOtherContent } = this;
    if (since !== null) {
      const deployedAt = new Date(since).toISOString();
      return { isDeployed: true, deployedAt, reason: null, packages: [], hasOtherContent };
    }
    const reason = last
      ? last.status === 'Failed'
        ? 'failed'
        : last.isRolledBack
          ? 'rolled_back'
          : 'partial'
      : hasOtherContent
        ? 'other_content'
        : 'never';
    const packages = this.wasComplete ? [] : this.hasBegun ? this.missing() : [...this.names];
    return { isDeployed: false, deployedAt: null, reason, packages, hasOtherContent };
  }
}
