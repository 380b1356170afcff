import type { PolicyViolation } from '../../projects/policies/policy-violation-rules.ts';
import { type Demands, unmetBefore, unmetVerification } from './promotable-rules.ts';
import { freezeAt, nextOpening } from './window-rules.ts';

interface DeploymentFacts {
  demands: Demands;
  /** In milliseconds since the epoch. */
  deployedAt: number;
  /** Why the release was held back from the environment, for people; null: it was not. */
  held?: string | null;
  /** The environment asks for an approval that was not given. */
  lacksApproval: boolean;
}

/** What a deployment broke of the policies of its environment. */
export function violationsOf({ demands, deployedAt, held = null, lacksApproval }: DeploymentFacts): PolicyViolation[] {
  const { environmentName, policy } = demands;
  const violations: PolicyViolation[] = [];
  const freeze = policy && freezeAt(policy, deployedAt);
  if (freeze) {
    const detail = `${environmentName} is frozen from ${freeze.from} to ${freeze.to}: ${freeze.reason}`;
    violations.push({ code: 'frozen', detail });
  } else if (policy && nextOpening(policy, deployedAt) !== deployedAt) {
    const detail = `${new Date(deployedAt).toISOString()} is outside the windows of ${environmentName}`;
    violations.push({ code: 'outside_window', detail });
  }
  const unmet = unmetBefore(demands, deployedAt);
  if (unmet)
    violations.push({
      code: codeOf(demands),
      detail: unmet.reason,
    });
  if (held !== null) violations.push({ code: 'held', detail: held });
  if (lacksApproval) {
    const detail = `${environmentName} asks for an approval, and none was given for this deployment`;
    violations.push({ code: 'not_approved', detail });
  }
  return violations;
}

/** What of its policy an environment lacks in others. */
function codeOf(demands: Demands): PolicyViolation['code'] {
  if (!demands.policy?.after?.every((name) => demands.deployed.has(name))) return 'not_deployed_before';
  return unmetVerification(demands) ? 'not_verified' : 'not_soaked';
}
