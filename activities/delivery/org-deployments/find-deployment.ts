import { deployRequestsSince, mayBeAsked } from '../../../domain/delivery/org-deployments/deploy-order-rules.ts';
import type { StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import type { CrmOrg } from '../../../domain/orgs/crm/crm-platform.port.ts';
import type { OrgWork } from '../org-steps/org-work.ts';
import { ownSince } from '../org-steps/own-since.ts';
import type { Built } from './build-step.ts';
import type { DeployIntent } from './plan-deployment.ts';

/** Finds the deployment that a step has begun in its org, whose answer nobody got. */
export const findDeployment = ({ deps, tenant, org }: OrgWork, build: StepRow, step: StepRow) => {
  const { checkOnly = false, testLevel = 'default', tests = [], validationId } = step.intent as DeployIntent;
  return ownSince(deps, tenant, org, step, {
    soql: deployRequestsSince({ checkOnly }),
    member: 'Id',
    async mayBe(id) {
      const found = await org.calls.deploymentStatus(id);
      if (!found.isOk) return found;
      const components = await componentsSent(org.calls, build, validationId);
      const asked = { checkOnly, testLevel, tests, components, isQuick: validationId !== undefined };
      return { isOk: true, value: mayBeAsked(asked, found.value) };
    },
  });
};

/** How many components the org was sent, as it counts them; null: not known. */
async function componentsSent(
  calls: CrmOrg,
  { result }: StepRow,
  validationId: string | undefined,
): Promise<number | null> {
  const { components = null, deletions = 0 } = result as unknown as Partial<Built>;
  if (validationId === undefined) return components === null ? null : components + deletions;
  const validated = await calls.deploymentStatus(validationId);
  return validated.isOk ? validated.value.components.total : null;
}
