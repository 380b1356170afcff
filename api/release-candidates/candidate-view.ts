import type { ListedCandidate } from '../../domain/release-candidates/candidate-list.queries.ts';
import type { CandidateOfProject } from '../../domain/release-candidates/release-candidates.queries.ts';
import { isoOf } from '../../domain/shared/date-time-rules.ts';

/** A candidate with the name of its repository. */
export const view = ({ candidate, project }: CandidateOfProject) => ({
  ...candidate,
  isIntermediate: candidate.supersededBy !== null,
  repositoryIdentifier: project.identifier,
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
