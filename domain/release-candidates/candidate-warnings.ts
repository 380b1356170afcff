import type { Reads } from '../data/fenced-reads.ts';
import { commitWarnings } from '../git/commit-warnings.ts';
import { foreignPackages } from '../projects/project-warning-rules.ts';
import type { Warning } from '../shared/warning-rules.ts';
import type { CandidateOfProject } from './release-candidates.queries.ts';

/** What of a candidate is probably not meant. */
export async function candidateWarnings(
  reads: Reads,
  { candidate: { domain, commitSha, value }, project }: CandidateOfProject,
): Promise<Warning[]> {
  return [
    ...(await commitWarnings(reads, project, commitSha, ['commitSha'])),
    ...foreignPackages(project, domain, Object.keys(value.artifacts ?? {}), ['value', 'artifacts']),
  ];
}
