import type { ListedCandidate } from '../../../domain/delivery/release-candidates/candidate-list.queries.ts';
import { type Hold, shownHold } from '../../../domain/delivery/release-candidates/holds/hold-rules.ts';
import { holdsOf } from '../../../domain/delivery/release-candidates/holds/holds.queries.ts';
import type { CandidateOfProject } from '../../../domain/delivery/release-candidates/release-candidates.queries.ts';
import type { Reads } from '../../../domain/kernel/data/fenced-reads.ts';
import { candidateWarnings } from '../../../domain/delivery/release-candidates/candidate-warnings.ts';
import { isoOf } from '../../../domain/kernel/text/date-time-rules.ts';

/** A candidate with the name of its repository, and what holds it now. */
export const view = ({ candidate, project }: CandidateOfProject, holds: readonly Hold[]) => ({
  ...candidate,
  hold: shownHold(holds),
  isIntermediate: candidate.supersededBy !== null,
  repositoryIdentifier: project.identifier,
});

/** A candidate as a part of a reply. */
export const viewed = async (reads: Reads, found: CandidateOfProject, now: Date) =>
  view(found, (await holdsOf(reads, [found.candidate], now))(found.candidate));

/** A candidate in a reply about it alone. */
export const detailed = async (reads: Reads, found: CandidateOfProject, now: Date) => ({
  ...(await viewed(reads, found, now)),
  warnings: await candidateWarnings(reads, found),
});

/** The JSON of a list of candidates, as the schema `ReleaseCandidate` has them: put together from texts, without parsing. */
export function listText(
  candidates: readonly ListedCandidate[],
  repositoryIdentifier: string,
  holdsNow: (candidate: ListedCandidate) => Hold[],
): string {
  const repository = JSON.stringify(repositoryIdentifier);
  const items = candidates.map((candidate) => {
    const { json, createdAt, updatedAt, statusChangedAt, holds } = candidate;
    const hold = holds.length === 0 ? 'null' : JSON.stringify(shownHold(holdsNow(candidate)));
    const statusChanged = statusChangedAt === null ? 'null' : `"${isoOf(statusChangedAt)}"`;
    return `${json.slice(0, -1)},"repositoryIdentifier":${repository},"createdAt":"${isoOf(createdAt)}","updatedAt":"${isoOf(updatedAt)}","statusChangedAt":${statusChanged},"hold":${hold}}`;
  });
  return `[${items.join(',')}]`;
}
