import type { StoredReport } from '../../domain/delivery/deployments/deployed-rules.ts';
import { factByDefinition } from './deployment-model.ts';

type Packages = Record<string, string>;
type Status = StoredReport['status'];

export interface Content {
  commitSha: string;
  artifacts: Packages;
}

export interface ReportedDetail {
  name: string;
  version?: string;
  status?: string;
  error?: string;
  skipped?: boolean;
}

export interface Reported {
  releaseName: string;
  environment: string;
  status: Status;
  /** Milliseconds since the epoch. */
  at: number;
  executionId?: string | undefined;
  packages?: Packages | undefined;
  packageDetails?: ReportedDetail[] | undefined;
}

interface Candidate {
  content: Content;
  status: string;
}

interface ModelReport extends StoredReport {
  releaseName: string;
  /** Packages that it is about. */
  packages: Packages;
  environment: string;
  /** The rollback by which it was taken back. */
  takenBackBy: number | undefined;
  /** As a target of a rollback: the release that was taken back. */
  restoredFrom: string | undefined;
}

const digestOf = ({ commitSha, artifacts }: Content): string =>
  JSON.stringify([commitSha, Object.entries(artifacts).toSorted(([a], [b]) => (a < b ? -1 : 1))]);

const OPEN = new Set(['pending', 'in_progress']);

/** What a project with some required environments and one branch should answer, in the simplest way that is right. */
export class ReleaseModel {
  readonly candidates = new Map<string, Candidate>();
  private readonly reports: ModelReport[] = [];
  private readonly outcomes = new Map<string, object>();
  private readonly environments: readonly string[];
  private rollbacks = 0;

  constructor(environments: readonly string[]) {
    this.environments = environments;
  }

  /** Answers whether the candidate takes the content. */
  post(releaseName: string, content: Content): boolean {
    const known = this.candidates.get(releaseName);
    if (known && !OPEN.has(known.status)) return false;
    const isSame = known && digestOf(known.content) === digestOf(content);
    this.candidates.set(releaseName, isSame ? known : { content, status: 'pending' });
    return true;
  }

  /** Its reports stay, as those of no candidate. */
  remove(releaseName: string): void {
    this.candidates.delete(releaseName);
    for (const each of this.reports) if (each.candidateId === releaseName) each.candidateId = null;
  }

  factOf(releaseName: string, environment: string) {
    const isRemoved = !this.candidates.has(releaseName);
    const { hasOtherContent: _, ...fact } = factByDefinition(
      { candidateId: releaseName, ...this.contentOf(releaseName) },
      this.of(environment).map((each) =>
        isRemoved && each.releaseName === releaseName ? { ...each, candidateId: releaseName } : each,
      ),
    );
    return fact;
  }

  /**
   * Content of a release; one whose candidate was removed has that of its last report, with all packages that were reported
   * of it.
   */
  contentOf(releaseName: string): { contentDigest: string; artifacts: Packages } {
    const known = this.candidates.get(releaseName)?.content;
    if (known) return { contentDigest: digestOf(known), artifacts: known.artifacts };
    const own = this.inOrder().filter((each) => each.releaseName === releaseName);
    const last = own.findLast(({ status }) => status !== 'Cancelled') ?? own.at(-1);
    const contentDigest = last?.contentDigest ?? '';
    const same = own.filter((each) => each.contentDigest === contentDigest);
    return { contentDigest, artifacts: Object.assign({}, ...same.map(({ packages }) => packages)) };
  }

  missing(releaseName: string) {
    return this.environments.flatMap((environment) => {
      const { reason, packages } = this.factOf(releaseName, environment);
      return reason === null ? [] : [{ environment, reason, packages }];
    });
  }

  /** What an environment runs. */
  running(environment: string): Packages {
    return Object.assign(
      {},
      ...this.of(environment).map(({ isRolledBack, installed }) => (isRolledBack ? {} : installed)),
    );
  }

  event(reported: Reported): object {
    const { releaseName, environment, status, at, executionId } = reported;
    const key = `${releaseName}/${environment}/${executionId ?? at}`;
    const known = this.outcomes.get(key);
    if (known) return { ...known, updated: false };
    const candidate = this.candidate(releaseName);
    const isInstalling = status === 'Success' || status === 'Partial';
    const installing = this.of(environment).filter((each) => INSTALLING.has(each.status));
    const later = installing.find((each) => each.deployedAt > at);
    const last = installing.findLast((each) => each.deployedAt <= at);
    // All rollbacks are later than all reports: where no other report came between, the rollback is next.
    const isRollbackNext = later === undefined || later.restoredFrom !== undefined;
    const isRestored = this.of(environment).some(
      (each) => each.releaseName === releaseName && each.restoredFrom !== undefined,
    );
    const takenBackBy =
      isInstalling && !isRestored
        ? (later?.takenBackBy ?? (isRollbackNext ? last?.takenBackBy : undefined))
        : undefined;
    this.reports.push({
      id: String(this.reports.length).padStart(6, '0'),
      environment,
      releaseName,
      packages: reported.packages ?? candidate.content.artifacts,
      candidateId: releaseName,
      contentDigest: digestOf(candidate.content),
      status,
      deployedAt: at,
      receivedAt: this.reports.length,
      isRolledBack: takenBackBy !== undefined,
      installed: installedBy(reported, candidate.content.artifacts),
      takenBackBy,
      restoredFrom: undefined,
    });
    const outcome = this.outcome(candidate, releaseName, status);
    this.outcomes.set(key, outcome);
    return outcome;
  }

  private outcome(candidate: Candidate, releaseName: string, status: Status): object {
    const missing = this.missing(releaseName);
    const previousStatus = candidate.status;
    const isMoving = OPEN.has(previousStatus) && status === 'Success';
    const isFinal = isMoving && missing.length === 0;
    let newStatus = previousStatus;
    if (isMoving) newStatus = isFinal ? 'finalized' : 'in_progress';
    candidate.status = newStatus;
    const names = [...this.candidates.keys()];
    const older = isFinal
      ? names.slice(0, names.indexOf(releaseName)).filter((name) => OPEN.has(this.candidate(name).status))
      : [];
    for (const name of older) this.candidate(name).status = 'finalized';
    return {
      updated: newStatus !== previousStatus,
      previousStatus,
      newStatus,
      intermediateCandidatesFinalized: older.length > 0,
      finalizationPending: isMoving && !isFinal,
      missingEnvironments: missing.map(({ environment }) => environment),
      missing,
    };
  }

  /** Answers whether both releases were ever installed there. */
  rollBack(environment: string, target: string, from: string): boolean {
    const installing = this.of(environment).filter((each) => INSTALLING.has(each.status));
    const record = installing.findLast((each) => each.releaseName === target);
    const source = installing.findLast((each) => each.releaseName === from);
    if (!record || !source) return false;
    if (record.restoredFrom === from && source.takenBackBy !== undefined) return true;
    const { takenBackBy } = record;
    const mark = ++this.rollbacks;
    record.restoredFrom = from;
    if (takenBackBy !== undefined)
      for (const each of installing) if (each.releaseName === target && each.takenBackBy === takenBackBy) restore(each);
    const until = installing.slice(0, installing.indexOf(source) + 1);
    const below = until.findLastIndex((each) => each.releaseName === target);
    for (const [index, each] of until.entries()) {
      const isAbove = below >= 0 ? index > below : each.releaseName === from;
      if (isAbove && each.releaseName !== target && each.takenBackBy === undefined) {
        each.takenBackBy = mark;
        each.isRolledBack = true;
      }
    }
    return true;
  }

  private candidate(releaseName: string): Candidate {
    const candidate = this.candidates.get(releaseName);
    if (!candidate) throw new Error(`There is no candidate ${releaseName}`);
    return candidate;
  }

  /** Reports to an environment, older ones first. */
  private of(environment: string): ModelReport[] {
    return this.inOrder().filter((each) => each.environment === environment);
  }

  private inOrder(): ModelReport[] {
    return this.reports.toSorted((a, b) => a.deployedAt - b.deployedAt || a.receivedAt - b.receivedAt);
  }
}

const INSTALLING: ReadonlySet<Status> = new Set(['Success', 'Partial']);

function restore(report: ModelReport): void {
  report.takenBackBy = undefined;
  report.isRolledBack = false;
}

function installedBy({ status, packages, packageDetails = [] }: Reported, artifacts: Packages): Packages {
  const isFailed = ({ status: word = '', error }: ReportedDetail) => error !== undefined || word === 'Failed';
  const last = (name: string) => packageDetails.findLast((each) => each.name === name);
  if (status === 'Success') {
    const all = Object.entries(packages ?? artifacts);
    return Object.fromEntries(all.filter(([name]) => !isFailed(last(name) ?? { name })));
  }
  if (status !== 'Partial') return {};
  if (packages) return packages;
  const installed: Packages = {};
  for (const name of new Set(packageDetails.map((each) => each.name))) {
    const detail = last(name) ?? { name };
    const version = detail.version ?? artifacts[name];
    const isThere = detail.status === 'Installed' || (detail.skipped === true && detail.version !== undefined);
    if (!isFailed(detail) && isThere && version !== undefined) installed[name] = version;
  }
  return installed;
}
