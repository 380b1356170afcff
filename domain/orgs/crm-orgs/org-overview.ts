import { longId } from '../crm/org-id-rules.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { invalidField } from '../../kernel/shared/errors.ts';
import {
  countOrgs,
  environmentsNaming,
  foundSandbox,
  foundUsername,
  listOrgs,
  namedOrgs,
  sandboxRecords,
} from './crm-orgs.queries.ts';
import { lastSyncs, worstLimits } from './org-overview.queries.ts';
import { registeredOrg } from './org-registration.ts';
import { platformFailed } from './tokens/org-failure-rules.ts';
import { shownHealth } from './org-health-rules.ts';
import { isSameName } from '../../projects/environments/org-name-rules.ts';
import { type OrgScope, orgKeyOf } from './org-scope.ts';

/** A page of the orgs with what is known of their health, and the environments that name them. */
export async function healthOfOrgs(reads: Reads, page: { limit: number; offset: number }) {
  const [orgs, total] = await Promise.all([listOrgs(reads, {}, page), countOrgs(reads, {})]);
  const ids = orgs.map(({ id }) => id);
  const usernames = orgs.map(({ username }) => username);
  const [environments, worst, syncs] = await Promise.all([
    environmentsNaming(reads, usernames),
    worstLimits(reads, ids),
    lastSyncs(reads, ids),
  ]);
  const syncOf = new Map(syncs.map(({ orgId, ...sync }) => [orgId, sync]));
  const worstOf = new Map(worst.map((limit) => [limit.orgId, limit.worst]));
  const byOrg = Map.groupBy(environments, ({ orgUsername }) => orgUsername);
  const items = orgs.map((org) => ({
    username: org.username,
    orgId: org.platformOrgId,
    organizationType: org.organizationType,
    sandboxName: org.sandboxName,
    health: shownHealth(org),
    worstLimit: worstOf.get(org.id) ?? null,
    expiresAt: org.expiresAt,
    lastSync: syncOf.get(org.id) ?? null,
    environments: (byOrg.get(org.username.toLowerCase()) ?? []).map(({ repositoryIdentifier, name }) => ({
      repositoryIdentifier,
      name,
    })),
  }));
  return { items, total };
}

/**
 * Sandboxes of a production org as it lists them; a caller who is limited to projects gets those that it can reach.
 * Throws `not_found`, `invalid_request`, `upstream_error`, `upstream_timeout`.
 */
export async function sandboxesOf(scope: OrgScope, productionUsername: string) {
  const production = await registeredOrg(scope, productionUsername);
  if (production.kind !== 'production')
    throw invalidField('productionUsername', `${production.username} is not a production org`);
  const answer = await scope.crm.connections.callOrg(orgKeyOf(scope, production.id)).sandboxes();
  if (!answer.isOk) throw platformFailed(`Org ${production.username} was asked for its sandboxes`, answer);
  const sandboxes = answer.value.map(({ sandboxInfoId: _, orgId, ...sandbox }) => ({
    ...sandbox,
    orgId: orgId === null ? null : longId(orgId),
  }));
  const ids = sandboxes.flatMap(({ orgId }) => orgId ?? []);
  const records = await sandboxRecords(scope.reads, production.username, ids);
  const shown = sandboxes.map((sandbox) => ({ ...sandbox, username: usernameAmong(records, sandbox) }));
  if (!scope.actor.projectIds) return shown;
  const usernameOf = ({ name }: { name: string }) => foundUsername(foundSandbox(production, { name, orgId: null }));
  const named = new Set(await namedOrgs(scope.reads, shown.map(usernameOf)));
  return shown.filter((sandbox) => sandbox.username !== null || named.has(usernameOf(sandbox)));
}

const usernameAmong = (
  records: Awaited<ReturnType<typeof sandboxRecords>>,
  { name, orgId }: { name: string; orgId: string | null },
): string | null =>
  records.find(
    ({ sandboxName, platformOrgId }) =>
      platformOrgId === orgId || (sandboxName !== null && isSameName(sandboxName, name)),
  )?.username ?? null;
