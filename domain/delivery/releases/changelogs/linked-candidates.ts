import type { History } from '../../../code/git/graph/commit-graph-cache.ts';
import { rangeFacts } from '../../../code/git/graph/range-facts.ts';
import { newestCandidates } from '../../release-candidates/candidate-series.queries.ts';
import type { CandidateRow } from '../../release-candidates/release-candidates.queries.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { resolveChanges } from './resolved-changes.ts';
import { packageChanges } from './package-change-rules.ts';

export interface LinkedCandidate {
  id: string;
  domain: string;
  releaseName: string;
  status: string;
  /** Work items that both hold. */
  workItems: string[];
}

/** How far back candidates of a domain are looked at. */
const PER_DOMAIN = 20;

/** A candidate with the work items that are new in it: those of its changes since the candidate before it. */
export interface CandidateItems {
  candidate: CandidateRow;
  workItems: ReadonlySet<string>;
}

/** What is new in each of some candidates, which come newest first within each domain; the oldest of a domain is held against nothing. */
export async function itemsOfCandidates(
  tx: Tx,
  history: History,
  candidates: readonly CandidateRow[],
): Promise<CandidateItems[]> {
  const steps = [...Map.groupBy(candidates, ({ domain }) => domain).values()].flatMap((ofDomain) =>
    ofDomain.map((candidate, index) => ({
      candidate,
      changes: packageChanges(ofDomain[index + 1]?.value.artifacts ?? {}, candidate.value.artifacts ?? {}),
    })),
  );
  const resolvedChanges = await resolveChanges(
    tx,
    history,
    steps.flatMap(({ changes }) => changes),
  );
  const ranges = await rangeFacts(
    tx,
    history,
    resolvedChanges.flatMap(({ added }) => added ?? []),
  );
  let at = 0;
  return steps.map(({ candidate, changes }) => {
    const own = resolvedChanges.slice(at, (at += changes.length));
    return { candidate, workItems: new Set(own.flatMap(({ added }) => (added ? ranges.of(added).workItems : []))) };
  });
}

/** Candidates of other domains in which some of the same work items are new. */
export async function linkedCandidates(
  tx: Tx,
  history: History,
  domain: string,
  workItems: readonly string[],
): Promise<LinkedCandidate[]> {
  if (workItems.length === 0) return [];
  const wanted = new Set(workItems);
  const others = await newestCandidates(tx, history.projectId, { exceptDomain: domain, perDomain: PER_DOMAIN });
  return (await itemsOfCandidates(tx, history, others)).flatMap(({ candidate, workItems: items }) => {
    const shared = [...items].filter((key) => wanted.has(key)).toSorted();
    const { id, releaseName, status } = candidate;
    return shared.length === 0 ? [] : [{ id, domain: candidate.domain, releaseName, status, workItems: shared }];
  });
}
