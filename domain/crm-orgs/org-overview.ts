import { longId } from '../crm/org-id-rules.ts';
import type { Reads } from '../data/fenced-reads.ts';
import { invalidField } from '../shared/errors.ts';
import { countOrgs, environmentsNaming, listOrgs, sandboxesOfProduction, worstLimits } from './crm-orgs.queries.ts';
import { registeredOrg } from './org-registration.ts';
import { isSameName, platformFailed } from './org-rules.ts';
import { type OrgScope, placeOf } from './org-scope.ts';

/** A page of the orgs with what is known of their health, and the environments that name them. */
export async function healthOfOrgs(reads: Reads, page: { limit: number; offset: number }) {
  const [orgs, total] = await Promise.all([listOrgs(reads, {}, page), countOrgs(reads, {})]);
  const [environments, worst] = await Promise.all([
    environmentsNaming(
      reads,
      orgs.map(({ username }) => username),
    ),
    worstLimits(
      reads,
      orgs.map(({ id }) => id),
    ),
  ]);
  const worstOf = new Map(worst.map((limit) => [limit.orgId, limit.worst]));
  const byOrg = Map.groupBy(environments, ({ orgUsername }) => orgUsername);
  const items = orgs.map((org) => ({
    username: org.username,
    orgId: org.platformOrgId,
    organizationType: org.organizationType,
    sandboxName: org.sandboxName,
    health: {
      status: org.healthStatus,
      checkedAt: org.healthCheckedAt,
      error: org.healthError,
      hint: org.healthHint,
    },
    worstLimit: worstOf.get(org.id) ?? null,
    expiresAt: org.expiresAt,
    environments: (byOrg.get(org.username.toLowerCase()) ?? []).map(({ repositoryIdentifier, name }) => ({
      repositoryIdentifier,
      name,
    })),
  }));
  return { items, total };
}

/** Sandboxes of a production org as it lists them. Throws `not_found`, `invalid_request`, `upstream_error`, `upstream_timeout`. */
export async function sandboxesOf(scope: OrgScope, productionUsername: string) {
  const production = await registeredOrg(scope, productionUsername);
  if (production.kind !== 'production')
    throw invalidField('productionUsername', `${production.username} is not a production org`);
  const answer = await scope.crm.connections.callOrg(placeOf(scope, production.id)).sandboxes();
  if (!answer.isOk) throw platformFailed(`Org ${production.username} was asked for its sandboxes`, answer);
  const registered = await sandboxesOfProduction(scope.reads, production.username);
  return answer.value.map(({ sandboxInfoId: _, orgId, ...sandbox }) => ({
    ...sandbox,
    orgId: orgId === null ? null : longId(orgId),
    username:
      registered.find(({ sandboxName }) => sandboxName && isSameName(sandboxName, sandbox.name))?.username ?? null,
  }));
}
