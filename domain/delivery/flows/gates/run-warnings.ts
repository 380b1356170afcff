import { ApprovalPolicySchema } from '../../../projects/policies/approval-policy.ts';
import { policyWarnings } from '../../../projects/policies/policy-warnings.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { copyFetchedAt } from '../../../code/git/graph/branch-evidence.ts';
import { commitWarnings } from '../../../code/git/commit-warnings.ts';
import { takesEveryBranch } from '../../promotion/promotable-rules.ts';
import { findCandidate } from '../../release-candidates/release-candidates.queries.ts';
import { listEnvironments } from '../../../projects/environments/environments.queries.ts';
import { foreignPackages } from '../../../projects/projects/project-warning-rules.ts';
import { findProject } from '../../../projects/projects/projects.queries.ts';
import type { Actor } from '../../../kernel/shared/actor.ts';
import { type Warning, warning } from '../../../kernel/shared/warning-rules.ts';
import { isPromotion } from '../programs/executor-rules.ts';
import { flowType } from '../flow-types.ts';

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
      ? await commitWarnings(reads, project.id, commitId, ['payload', 'commitId'])
      : []),
    ...(project && domain !== undefined ? foreignPackages(project, domain, named, ['payload', 'packages']) : []),
    ...(await branchWarnings(reads, payload)),
    ...(await policyWarnings(reads, actor, policy, ['payload', 'approvalPolicy'])),
  ];
}

/** Whether the branch of a release was believed, where an environment asks for one. */
async function branchWarnings(reads: Reads, payload: Readonly<Record<string, unknown>>): Promise<Warning[]> {
  const type = flowType(String(payload.id));
  const { repositoryIdentifier = '', domain = '', releaseName = '' } = payload;
  if (!type || !isPromotion(type) || type.isRollback) return [];
  const project = await findProject(reads, String(repositoryIdentifier));
  const candidate =
    project && (await findCandidate(reads, project.id, { domain: String(domain), releaseName: String(releaseName) }));
  if (!candidate) return [];
  const named = [payload.environmentName, payload.environmentNames].flat();
  const environments = await listEnvironments(reads, project.id);
  const asking = environments.filter(({ name }) => named.every((each) => each === undefined) || named.includes(name));
  if (asking.every(takesEveryBranch)) return [];
  if ((await copyFetchedAt(reads, project.id)) !== null) return [];
  const branch = candidate.branch ?? project.defaultBranch;
  const message = `Nothing of ${project.identifier} was fetched: that ${candidate.releaseName} is on the branch ${branch} was believed`;
  return [warning('unverified_branch', ['payload', 'releaseName'], message)];
}
