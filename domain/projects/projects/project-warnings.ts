import { policyWarnings } from '../policies/policy-warnings.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { remoteFacts } from '../../code/git/mirror/remote-facts.queries.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import type { Warning } from '../../kernel/shared/warning-rules.ts';
import { remoteWarnings } from './project-warning-rules.ts';
import type { Project } from './projects.entities.ts';

/**
 * What of a project is probably not meant.
 * @param isRemoteNew what is known of the remote is that of the one before.
 */
export async function projectWarnings(
  reads: Reads,
  actor: Pick<Actor, 'projectIds'>,
  project: Project,
  { isRemoteNew = false } = {},
): Promise<Warning[]> {
  const facts = isRemoteNew || project.remoteUrl === null ? undefined : await remoteFacts(reads, project);
  return [
    ...(facts ? remoteWarnings(project, facts) : []),
    ...(await policyWarnings(reads, actor, project.configuration.approvalPolicy, ['configuration', 'approvalPolicy'])),
  ];
}
