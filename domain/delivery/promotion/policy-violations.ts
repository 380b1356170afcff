import { asksForApproval, type EnvironmentPolicies } from '../../projects/policies/approval-policy-rules.ts';
import { hasApproval, type UnstoredDeployment } from '../approvals/unapproved.queries.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { DeployedCandidate } from '../deployments/deployment-facts.ts';
import type { DeploymentStatus } from '../release-candidates/finalization-rules.ts';
import { deployedBefore } from './promotion.ts';
import type { PromotionPolicy } from '../../projects/policies/promotion-policy-rules.ts';
import type { PolicyViolation } from '../../projects/policies/policy-violation-rules.ts';
import { verificationFacts } from '../verification/shown-verifications.queries.ts';
import { violationsOf } from './violation-rules.ts';

/** An environment to which a deployment was reported. */
export interface PolicedEnvironment extends EnvironmentPolicies {
  name: string;
  promotion: PromotionPolicy | null;
}

/**
 * What a deployment that is about to be recorded broke of the policies that its environment has now; nothing for one
 * that was cancelled. It costs a query only where a policy needs one.
 * @param candidate null: it was removed, so that what was deployed of it is not known.
 */
export async function policyViolations(
  reads: Reads,
  environment: PolicedEnvironment,
  candidate: DeployedCandidate | null,
  deployment: UnstoredDeployment & { status: DeploymentStatus; deployedAt: Date },
): Promise<PolicyViolation[]> {
  if (deployment.status === 'Cancelled') return [];
  const { name: environmentName, promotion: policy } = environment;
  const { projectId, domain } = deployment;
  const deployed =
    candidate && policy ? await deployedBefore(reads, projectId, { ...candidate, domain }, [policy]) : new Map();
  const verifications = candidate && policy?.after?.length ? await verificationFacts(reads, candidate) : undefined;
  return violationsOf({
    demands: { environmentName, policy, deployed, verifications },
    deployedAt: deployment.deployedAt.getTime(),
    lacksApproval: asksForApproval(environment) && !(await hasApproval(reads, deployment)),
  });
}
