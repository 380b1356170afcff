import type { DeploymentStatus } from '../release-candidates/finalization-rules.ts';
import { type Packages, versionOf } from './report-rules.ts';

/** A stored report of a deployment to one environment. */
export interface StoredReport {
  candidateId: string | null;
  /** Of the content that was deployed. */
  contentDigest: string | null;
  status: DeploymentStatus;
  /** As text that sorts. */
  deployedAt: string;
  isRolledBack: boolean;
  /** What it installed: package name to version. */
  installed: Packages;
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
export type MissingReason = 'never' | 'failed' | 'rolled_back' | 'partial' | 'other_content';

export interface DeploymentFact {
  isDeployed: boolean;
  /** Since when: the report by which it was complete. Null while it is not deployed. */
  deployedAt: string | null;
  /** Null when it is deployed. */
  reason: MissingReason | null;
  /** The candidate's packages that were not installed, by name. */
  packages: string[];
}

/** What a report changed of what its environment runs. */
export const isEffective = ({ status, isRolledBack }: Pick<StoredReport, 'status' | 'isRolledBack'>): boolean =>
  !isRolledBack && (status === 'Success' || status === 'Partial');

/** Package name to version, as reports left it: of each package the newest effective one wins. `reports`: oldest first. */
export const runningPackages = (reports: readonly StoredReport[]): Packages =>
  Object.assign({}, ...reports.filter(isEffective).map(({ installed }) => installed));

/**
 * Whether a candidate is deployed to an environment. A package counts when a report of this content installed it in the
 * candidate's version, or when it ran there in that version by another candidate's report at a moment from the first
 * report of this content on; later releases undo neither. A failed report undoes it until the next that did not fail,
 * and what was rolled back never was.
 * @param reports to the environment, oldest first: all of the candidate, and of others those that installed its packages.
 */
export function deploymentFact(content: ContentFacts, reports: readonly StoredReport[]): DeploymentFact {
  const names = Object.keys(content.artifacts).toSorted();
  const progress = new Progress(content, names);
  for (const report of reports) progress.add(report);
  return progress.fact();
}

class Progress {
  private readonly content: ContentFacts;
  private readonly names: readonly string[];
  /** Installed by this content. */
  private readonly installed = new Set<string>();
  /** Run in the candidate's version by another candidate's report. */
  private readonly borrowed = new Set<string>();
  /** The last report of this content that was not cancelled. */
  private last: StoredReport | undefined;
  private hasBegun = false;
  private wasComplete = false;
  private hasOtherContent = false;
  private since: string | null = null;

  constructor(content: ContentFacts, names: readonly string[]) {
    this.content = content;
    this.names = names;
  }

  add(report: StoredReport): void {
    const { candidateId, contentDigest, status } = report;
    const isOfCandidate = candidateId === this.content.candidateId;
    const isOwn = isOfCandidate && contentDigest === this.content.contentDigest;
    if (isOfCandidate && !isOwn && (status === 'Success' || status === 'Partial')) this.hasOtherContent = true;
    if (isOwn && status !== 'Cancelled') this.last = report;
    if (isEffective(report)) this.install(report, isOwn, isOfCandidate);
    this.assess(report.deployedAt);
  }

  private install({ installed, status }: StoredReport, isOwn: boolean, isOfCandidate: boolean): void {
    if (isOwn && (status === 'Success' || this.names.length > 0)) this.hasBegun = true;
    for (const name of this.names) {
      const version = versionOf(installed, name);
      if (version === undefined) continue;
      if (version !== this.content.artifacts[name]) this.borrowed.delete(name);
      else if (isOwn) this.installed.add(name);
      else if (!isOfCandidate) this.borrowed.add(name);
    }
  }

  /** Notes since when it is deployed. */
  private assess(at: string): void {
    this.wasComplete ||= this.hasBegun && this.missing().length === 0;
    const isDeployed = this.wasComplete && this.last?.status !== 'Failed' && this.last?.isRolledBack !== true;
    this.since = isDeployed ? (this.since ?? at) : null;
  }

  private missing(): string[] {
    return this.names.filter((name) => !this.installed.has(name) && !this.borrowed.has(name));
  }

  fact(): DeploymentFact {
    const { last, since } = this;
    if (since !== null) return { isDeployed: true, deployedAt: since, reason: null, packages: [] };
    const reason = last
      ? last.status === 'Failed'
        ? 'failed'
        : last.isRolledBack
          ? 'rolled_back'
          : 'partial'
      : this.hasOtherContent
        ? 'other_content'
        : 'never';
    const packages = last ? (this.wasComplete ? [] : this.missing()) : [...this.names];
    return { isDeployed: false, deployedAt: null, reason, packages };
  }
}
