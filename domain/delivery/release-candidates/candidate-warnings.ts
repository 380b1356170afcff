import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { branchFinding } from '../../code/git/graph/branch-evidence.ts';
import { unknownCommit } from '../../code/git/commit-warnings.ts';
import { foreignPackages } from '../../projects/projects/project-warning-rules.ts';
import { type Warning, warning } from '../../kernel/shared/warning-rules.ts';
import { firstHolder } from './first-holders.queries.ts';
import type { CandidateOfProject } from './release-candidates.queries.ts';

/** What of a candidate is probably not meant. */
export async function candidateWarnings(reads: Reads, { candidate, project }: CandidateOfProject): Promise<Warning[]> {
  const { domain, commitSha, branch, value } = candidate;
  const holder = await firstHolder(reads, candidate);
  const claimed = branch ?? project.defaultBranch;
  const { evidence, fetchedAt } = await branchFinding(reads, project.id, { branch: claimed, commitSha });
  return [
    ...(evidence === 'unverified' && fetchedAt !== null ? [unknownCommit(fetchedAt, commitSha, ['commitSha'])] : []),
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
