import { asksForApproval, type EnvironmentPolicies } from '../../projects/policies/approval-policy-rules.ts';
import { hasApproval, type UnstoredDeployment } from '../approvals/unapproved.queries.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { DeployedCandidate } from '../deployments/deployment-facts.ts';
import type { DeploymentStatus } from '../release-candidates/finalization-rules.ts';
import { deployedBefore } from './promotion.ts';
import type { PromotionPolicy } from '../../projects/policies/promotion-policy-rules.ts';
import type { PolicyViolation } from '../../projects/policies/policy-violation-rules.ts';
import { verificationFacts } from '../verification/shown-verifications.queries.ts';
import { keepsFrom, whyHeld } from '../release-candidates/holds/hold-rules.ts';
import { type Holdable, holdsOf } from '../release-candidates/holds/holds.queries.ts';
import { violationsOf } from './violation-rules.ts';

/** An environment to which a deployment was reported. */
export interface PolicedEnvironment extends EnvironmentPolicies {
  name: string;
  promotion: PromotionPolicy | null;
  /** Its place in the order in which releases travel. */
  orchestrationOrder: number;
}

/** What was deployed of a candidate, with what holds that back. */
export type PolicedCandidate = DeployedCandidate & Pick<Holdable, 'holds'>;

/**
 * What a deployment that is about to be recorded broke of the policies that its environment has now; nothing for one
 * that was cancelled. It costs a query only where a policy needs one.
 * @param candidate null: it was removed, so that what was deployed of it is not known.
 */
export async function policyViolations(
  reads: Reads,
  environment: PolicedEnvironment,
  candidate: PolicedCandidate | null,
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
    held: candidate && (await heldBack(reads, candidate, environment, deployment.deployedAt)),
    lacksApproval: asksForApproval(environment) && !(await hasApproval(reads, deployment)),
  });
}

/** Why a release was held back from an environment when it was deployed there, as far as that is known now. */
async function heldBack(
  reads: Reads,
  { holds, contentDigest }: PolicedCandidate,
  { name: environmentName, promotion, orchestrationOrder: order }: PolicedEnvironment,
  deployedAt: Date,
): Promise<string | null> {
  const then = { contentDigest, holds: holds.filter(({ since }) => Date.parse(since) <= deployedAt.getTime()) };
  if (then.holds.length === 0) return null;
  const place = { environmentName, after: promotion?.after, order, isRollback: false };
  const hold = (await holdsOf(reads, [then], deployedAt))(then).find((each) => keepsFrom(each, place));
  return hold ? `The release ${whyHeld(hold)}; it went to ${environmentName}` : null;
}
