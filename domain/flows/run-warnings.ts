import { ApprovalPolicySchema } from '../approvals/approval-policy.ts';
import { policyWarnings } from '../approvals/policy-warnings.ts';
import type { Reads } from '../data/fenced-reads.ts';
import { commitWarnings } from '../git/commit-warnings.ts';
import { foreignPackages } from '../projects/project-warning-rules.ts';
import { findProject } from '../projects/projects.queries.ts';
import type { Actor } from '../shared/actor.ts';
import type { Warning } from '../shared/warning-rules.ts';

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** What of an accepted payload is probably not meant. It costs a query only for what the payload names. */
export async function runWarnings(
  reads: Reads,
  actor: Pick<Actor, 'projectIds'>,
  payload: Readonly<Record<string, unknown>>,
): Promise<Warning[]> {
  const { packages } = payload;
  const policy = ApprovalPolicySchema.safeParse(payload.approvalPolicy).data;
  const [repositoryIdentifier, commitId, domain] = [
    textOf(payload.repositoryIdentifier),
    textOf(payload.commitId),
    textOf(payload.domain),
  ];
  const named = typeof packages === 'object' && packages !== null && domain !== undefined ? Object.keys(packages) : [];
  const needsProject = commitId !== undefined || named.length > 0;
  const project =
    needsProject && repositoryIdentifier !== undefined ? await findProject(reads, repositoryIdentifier) : undefined;
  return [
    ...(project && commitId !== undefined
      ? await commitWarnings(reads, project, commitId, ['payload', 'commitId'])
      : []),
    ...(project && domain !== undefined ? foreignPackages(project, domain, named, ['payload', 'packages']) : []),
    ...(await policyWarnings(reads, actor, policy, ['payload', 'approvalPolicy'])),
  ];
}
