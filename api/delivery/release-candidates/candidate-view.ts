import type { ListedCandidate } from '../../../domain/delivery/release-candidates/candidate-list.queries.ts';
import type { CandidateOfProject } from '../../../domain/delivery/release-candidates/release-candidates.queries.ts';
import type { Reads } from '../../../domain/kernel/data/fenced-reads.ts';
import { candidateWarnings } from '../../../domain/delivery/release-candidates/candidate-warnings.ts';
import { isoOf } from '../../../domain/kernel/text/date-time-rules.ts';

/** A candidate with the name of its repository. */
export const view = ({ candidate, project }: CandidateOfProject) => ({
  ...candidate,
  isIntermediate: candidate.supersededBy !== null,
  repositoryIdentifier: project.identifier,
});

/** A candidate in a reply about it alone. */
export const detailed = async (reads: Reads, found: CandidateOfProject) => ({
  ...view(found),
  warnings: await candidateWarnings(reads, found),
});

/** The JSON of a list of candidates, as the schema `ReleaseCandidate` has them: put together from texts, without parsing. */
export function listText(candidates: readonly ListedCandidate[], repositoryIdentifier: string): string {
  const repository = JSON.stringify(repositoryIdentifier);
  const items = candidates.map(({ json, createdAt, updatedAt, statusChangedAt }) => {
    const statusChanged = statusChangedAt === null ? 'null' : `"${isoOf(statusChangedAt)}"`;
    return `${json.slice(0, -1)},"repositoryIdentifier":${repository},"createdAt":"${isoOf(createdAt)}","updatedAt":"${isoOf(updatedAt)}","statusChangedAt":${statusChanged}}`;
  });
  return `[${items.join(',')}]`;
}
