import type { Reads } from '../data/fenced-reads.ts';
import { branchEvidence } from '../git/branch-evidence.ts';
import { commitWarnings } from '../git/commit-warnings.ts';
import { foreignPackages } from '../projects/project-warning-rules.ts';
import { type Warning, warning } from '../shared/warning-rules.ts';
import { firstHolder } from './first-holders.queries.ts';
import type { CandidateOfProject } from './release-candidates.queries.ts';

/** What of a candidate is probably not meant. */
export async function candidateWarnings(reads: Reads, { candidate, project }: CandidateOfProject): Promise<Warning[]> {
  const { domain, commitSha, branch, value } = candidate;
  const holder = await firstHolder(reads, candidate);
  const claimed = branch ?? project.defaultBranch;
  const evidence = await branchEvidence(reads, project.id, { branch: claimed, commitSha });
  return [
    ...(await commitWarnings(reads, project, commitSha, ['commitSha'])),
    ...(evidence === 'not_on_branch'
      ? [warning('commit_not_on_branch', ['branch'], `The commit ${commitSha} is not on the branch ${claimed}`)]
      : []),
    ...(holder
      ? [
          warning(
            'versions_of_other_commit',
            ['value', 'artifacts'],
            `${holder.releaseName} holds the same versions from the commit ${holder.commitSha}: its content and that of ${candidate.releaseName} cannot be told apart by them`,
          ),
        ]
      : []),
    ...foreignPackages(project, domain, Object.keys(value.artifacts ?? {}), ['value', 'artifacts']),
  ];
}
