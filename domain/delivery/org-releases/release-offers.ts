import { deploySettingsOf, environmentById } from '../../projects/environments/environments.queries.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { OfferedType } from '../flows/runs.hooks.ts';
import { CHILD_OF_RELEASE } from '../flows/flow-types.ts';
import { whyNotDeployed } from '../org-deployments/deploy-order-rules.ts';
import { withDefaults } from '../org-deployments/deploy-settings-rules.ts';
import { orgOfRun, whyNoOrg } from '../org-steps/org-of-run.ts';

const TYPES: ReadonlySet<string> = new Set([CHILD_OF_RELEASE, 'rollback-release']);

/** Members of payloads that releases do not have, with what does what they ask for. */
const NOT_OF_RELEASES: Readonly<Record<string, string>> = {
  orgUsername: 'a release goes to the org of its environment',
  validateOnly: 'install-artifacts validates',
  quickDeployOf: 'install-artifacts deploys validations',
  sourcePackages: 'the candidate says which packages are deployed',
};

/** Why the service cannot deploy a release to an environment, as far as the database knows; null: it can. */
export async function whyNotRelease(tx: Tx, { id, run }: OfferedType): Promise<string | null> {
  if (!TYPES.has(id)) return null;
  if (!run) return whyNoOrg(tx, run);
  const { payload, environmentId } = run;
  const foreign = Object.keys(NOT_OF_RELEASES).find((member) => payload[member] !== undefined);
  if (foreign !== undefined) return `${foreign} is not for releases: ${NOT_OF_RELEASES[foreign]}`;
  const found = environmentId === null ? undefined : await environmentById(tx, environmentId);
  if (!found) return 'The payload names no environment';
  if (!found.environment.orgUsername)
    return `The environment ${found.environment.name} names no org (orgUsername) to which the service could deploy`;
  try {
    const org = await orgOfRun(tx, { payload: {}, environmentId });
    const why = whyNotDeployed(withDefaults(payload, await deploySettingsOf(tx, environmentId)), org.kind);
    if (why !== null) return why;
  } catch (error) {
    if (error instanceof DomainError) return error.message;
    throw error;
  }
  const { identifier, remoteUrl } = found.project;
  return remoteUrl
    ? null
    : `The project ${identifier} has no remoteUrl, from which the service reads the commits of releases`;
}
