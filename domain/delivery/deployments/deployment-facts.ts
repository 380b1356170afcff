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

const keyOf = (candidateId: string, environmentId: string): string => `${candidateId}/${environmentId}`;

/** Where candidates are deployed, from reports that the caller has read. */
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
  const reports = new Map<string, StoredReport[]>();
  const add = (
    candidateId: string,
    row: Omit<StoredReport, 'installed'> & Pick<ReportRow, 'environmentId' | 'installed'>,
  ) => {
    const report = { ...row, installed: row.installed ?? contents.get(candidateId)?.artifacts ?? {} };
    const key = keyOf(candidateId, row.environmentId);
    const known = reports.get(key);
    if (known) known.push(report);
    else reports.set(key, [report]);
  };
  for (const row of rows) add(row.candidateId, row);
  const open = [...reports].flatMap(([key, own]): OpenPair[] => {
    const [candidateId = '', environmentId = ''] = key.split('/');
    const content = contents.get(candidateId);
    const left = content && openPackages(content, own);
    return left ? [{ candidateId, environmentId, ...left }] : [];
  });
  const pairs = Map.groupBy(open, ({ environmentId }) => environmentId);
  const others = open.length === 0 ? [] : await othersReports(reads, [...pairs.values()].map(joined));
  // The stored reports no longer name candidates that were removed.
  const candidateOf = new Map(rows.map((row) => [row.id, row.candidateId]));
  for (const row of others)
    for (const { candidateId } of pairs.get(row.environmentId) ?? [])
      if ((candidateOf.get(row.id) ?? row.candidateId) !== candidateId) add(candidateId, row);
  const known = new Map<string, DeploymentFact>();
  return (candidateId, environmentId) => {
    const content = contents.get(candidateId);
    if (!content) throw new Error(`The facts of candidate ${candidateId} were not read`);
    const key = keyOf(candidateId, environmentId);
    const fact = known.get(key) ?? deploymentFact(content, reports.get(key) ?? []);
    known.set(key, fact);
    return fact;
  };
}
