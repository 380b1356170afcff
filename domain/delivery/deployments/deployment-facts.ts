import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { ReleaseDefinition } from '../release-candidates/comparison-rules.ts';
import {
  byAge,
  type ContentFacts,
  deploymentFact,
  type DeploymentFact,
  openPackages,
  type StoredReport,
} from './deployed-rules.ts';
import { type OpenPackages, othersReports, ownReports, type ReportRow } from './deployment-facts.queries.ts';

/** What of a candidate decides where it is deployed. */
export interface DeployedCandidate {
  id: string;
  contentDigest: string;
  value: ReleaseDefinition;
}

/** Whether a candidate is deployed to an environment, since when, and if not, why. */
export type DeploymentFacts = (candidateId: string, environmentId: string) => DeploymentFact;

/**
 * Where some candidates are deployed, by what was reported until now.
 * @param environmentIds those that will be asked for; absent: all.
 */
export async function deploymentFacts(
  reads: Reads,
  candidates: readonly DeployedCandidate[],
  environmentIds?: readonly string[],
): Promise<DeploymentFacts> {
  const reports = candidates.length === 0 ? [] : await ownReports(reads, candidates, environmentIds);
  return factsFrom(reads, candidates, reports);
}

interface OpenPair {
  candidateId: string;
  environmentId: string;
  first: StoredReport;
  packages: string[];
}

/** What some candidates left open in one environment. */
function joined(pairs: OpenPair[]): OpenPackages {
  const [{ id, deployedAt, receivedAt }] = pairs.map(({ first }) => first).toSorted(byAge) as [StoredReport];
  return {
    environmentId: pairs[0]?.environmentId ?? '',
    id,
    deployedAt,
    receivedAt,
    packages: [...new Set(pairs.flatMap(({ packages }) => packages))],
    candidateIds: pairs.map(({ candidateId }) => candidateId),
  };
}

/** Reports by candidate, then by environment. */
type ByPair<Report> = Map<string, Map<string, Report[]>>;

function addTo<Report>(pairs: ByPair<Report>, candidateId: string, environmentId: string, report: Report): void {
  let ofCandidate = pairs.get(candidateId);
  if (!ofCandidate) pairs.set(candidateId, (ofCandidate = new Map()));
  const known = ofCandidate.get(environmentId);
  if (known) known.push(report);
  else ofCandidate.set(environmentId, [report]);
}

/** Reports by candidate, then by environment. */
export function byPair<Report extends Pick<ReportRow, 'candidateId' | 'environmentId'>>(
  reports: readonly Report[],
): ReadonlyMap<string, ReadonlyMap<string, readonly Report[]>> {
  const pairs: ByPair<Report> = new Map();
  for (const report of reports) addTo(pairs, report.candidateId, report.environmentId, report);
  return pairs;
}

/**
 * Where candidates are deployed, from reports that the caller has read. Those that installed all of their candidate get its
 * artifacts as `installed`.
 */
export async function factsFrom(
  reads: Reads,
  candidates: readonly DeployedCandidate[],
  rows: readonly ReportRow[],
): Promise<DeploymentFacts> {
  const contents = new Map(
    candidates.map(({ id, contentDigest, value: { artifacts = {} } }): [string, ContentFacts] => [
      id,
      { candidateId: id, contentDigest, artifacts },
    ]),
  );
  const reports: ByPair<StoredReport> = new Map();
  for (const row of rows) {
    row.installed ??= contents.get(row.candidateId)?.artifacts ?? {};
    addTo(reports, row.candidateId, row.environmentId, row as StoredReport);
  }
  const open: OpenPair[] = [];
  for (const [candidateId, ofCandidate] of reports) {
    const content = contents.get(candidateId);
    if (!content) continue;
    for (const [environmentId, own] of ofCandidate) {
      const left = openPackages(content, own);
      if (left) open.push({ candidateId, environmentId, ...left });
    }
  }
  const pairs = Map.groupBy(open, ({ environmentId }) => environmentId);
  const others = open.length === 0 ? [] : await othersReports(reads, [...pairs.values()].map(joined));
  // The stored reports no longer name candidates that were removed.
  const candidateOf = new Map(rows.map((row) => [row.id, row.candidateId]));
  for (const row of others)
    for (const { candidateId } of pairs.get(row.environmentId) ?? [])
      if ((candidateOf.get(row.id) ?? row.candidateId) !== candidateId)
        addTo(reports, candidateId, row.environmentId, { ...row, installed: row.installed ?? {} });
  const known = new Map<string, Map<string, DeploymentFact>>();
  return (candidateId, environmentId) => {
    const content = contents.get(candidateId);
    if (!content) throw new Error(`The facts of candidate ${candidateId} were not read`);
    const ofCandidate = known.get(candidateId) ?? new Map<string, DeploymentFact>();
    known.set(candidateId, ofCandidate);
    const fact =
      ofCandidate.get(environmentId) ?? deploymentFact(content, reports.get(candidateId)?.get(environmentId) ?? []);
    ofCandidate.set(environmentId, fact);
    return fact;
  };
}
