import { answeringOrg } from '../../projects/environments/org-name-rules.ts';
import { deploySettingsOf } from '../../projects/environments/environments.queries.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { orgsByName, orgsOf, type OrgRow } from '../../orgs/crm-orgs/crm-orgs.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { OfferedType } from '../flows/runs.hooks.ts';
import { orgOfRun, whyNoOrg } from '../org-steps/org-of-run.ts';
import { whyNotDeployed } from './deploy-order-rules.ts';
import { withDefaults } from './deploy-settings-rules.ts';

const UNREACHED =
  'No interface of the platform reaches inbound change sets: install-changeset is done by a pipeline that the payload names, or by a command (COMMANDS_FILE); or name sourceOrg, the org in which the set was made, and changeSetName, whose components are then retrieved there and deployed';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The registered org in which a change set was made, as far as the caller sees it. Throws `flow_unavailable` and `ambiguous`. */
export async function sourceOrgOf(reads: Reads, named: string): Promise<OrgRow> {
  const found = UUID.test(named)
    ? await orgsOf(reads.db).where('o.tenantId', '=', reads.tenantId).where('o.id', '=', named).executeTakeFirst()
    : answeringOrg(await orgsByName(reads, named), named);
  if (!found) throw unavailable(`The org ${named} of sourceOrg is not registered`);
  if (found.healthStatus === 'auth_failed') throw unavailable(`The org ${found.username} refuses its credential`);
  return found;
}

/** Why the service cannot install a change set, as far as the database knows; null: it can. */
export async function whyNotChangeSet(tx: Tx, { id, run }: OfferedType): Promise<string | null> {
  if (id !== 'install-changeset') return null;
  if (!run) return (await whyNoOrg(tx, run)) === null ? null : UNREACHED;
  const { sourceOrg, changeSetName } = run.payload;
  if (typeof sourceOrg !== 'string' || typeof changeSetName !== 'string') return UNREACHED;
  try {
    const source = await sourceOrgOf(tx, sourceOrg);
    const target = await orgOfRun(tx, run);
    if (source.id === target.id) return `The org ${target.username} has what the change set of its own holds`;
    return whyNotDeployed(withDefaults(run.payload, await deploySettingsOf(tx, run.environmentId)), target.kind);
  } catch (error) {
    if (error instanceof DomainError) return error.message;
    throw error;
  }
}

const unavailable = (detail: string) => new DomainError('flow_unavailable', detail);
