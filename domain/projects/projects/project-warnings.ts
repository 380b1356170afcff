import { policyWarnings } from '../policies/policy-warnings.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import type { Warning } from '../../kernel/shared/warning-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { Project } from './projects.entities.ts';

/**
 * What of a project is probably not meant.
 * @param isRemoteNew what is known of the remote is that of the one before.
 */
export async function projectWarnings(
  tx: Tx,
  actor: Pick<Actor, 'projectIds'>,
  project: Project,
  { isRemoteNew = false } = {},
): Promise<Warning[]> {
  const ofRemote = isRemoteNew || project.remoteUrl === null ? [] : await tx.tell('remoteDoubted', project);
  return [
    ...ofRemote.flat(),
    ...(await policyWarnings(tx, actor, project.configuration.approvalPolicy, ['configuration', 'approvalPolicy'])),
  ];
}
