import type { CrmSandbox, ScratchOrg } from '../crm/crm-sandboxes.port.ts';
import { longId } from '../crm/org-id-rules.ts';
import { tenantOf } from '../../kernel/shared/actor.ts';
import { invalidField, notFound } from '../../kernel/shared/errors.ts';
import {
  type FoundOrg,
  foundSandbox,
  foundUsername,
  namedOrgs,
  orgByAlias,
  orgByUsername,
  orgsByName,
  type OrgRow,
  productionOrgs,
  recordsOf,
} from './crm-orgs.queries.ts';
import { devHubs, namedDevHubs } from './dev-hubs.queries.ts';
import {
  ambiguousSandbox,
  answeringOrg,
  isSameName,
  mayBeSandboxName,
  mayBeUsername,
} from '../../projects/environments/org-name-rules.ts';
import { type OrgScope, orgKeyOf } from './org-scope.ts';
import { searchOrgs } from './org-search.ts';

/** An org that a request means: registered, or found at the platform through one that is. */
export type OrgTarget = RegisteredTarget | SandboxTarget | ScratchTarget;
interface RegisteredTarget {
  type: 'registered';
  org: OrgRow;
}
export interface SandboxTarget {
  type: 'sandbox';
  production: OrgRow;
  sandbox: CrmSandbox;
}
export interface ScratchTarget {
  type: 'scratch';
  devHub: OrgRow;
  scratch: ScratchOrg;
  /** Where it is registered, too. */
  record: OrgRow | undefined;
}

/** An org that was found at the platform through another one, as far as the caller may reach it that way. */
type Reached = { record: OrgRow | undefined } | 'hidden';

/**
 * A caller who is limited to projects reaches no more through a production org or dev hub than it sees: the record, and
 * an org without a record when an environment of its projects names it.
 */
export async function reached(scope: OrgScope, found: FoundOrg): Promise<Reached> {
  const records = await scope.crm.connections.recordsOf(tenantOf(scope.actor), found);
  if (!scope.actor.projectIds) return { record: records[0] };
  if (records.length > 0) {
    const [record] = await recordsOf(scope.reads, found);
    return record ? { record } : 'hidden';
  }
  const named = await namedOrgs(scope.reads, [foundUsername(found)]);
  return named.length > 0 ? { record: undefined } : 'hidden';
}

/**
 * The sandbox of that name, at a production org or at every registered one. Throws `ambiguous` for one of several,
 * `upstream_error` and `upstream_timeout` when nobody has it and somebody did not answer.
 */
async function findSandbox(
  scope: OrgScope,
  { name, parent, parentParameter }: TargetQuery,
): Promise<RegisteredTarget | SandboxTarget | undefined> {
  const found = await searchOrgs(
    parent ? [parent] : await productionOrgs(scope.reads),
    `the sandbox ${name}`,
    (org, signal) => scope.crm.connections.callOrg(orgKeyOf(scope, org.id), { signal }).findSandbox(name),
    { isEnough: () => false },
  );
  const targets: (RegisteredTarget | SandboxTarget)[] = [];
  for (const { org: production, value: sandbox } of found) {
    const way = await reached(scope, foundSandbox(production, sandbox));
    if (way === 'hidden') continue;
    if (way.record?.sandboxName === null)
      await scope.crm.connections.nameSandbox(tenantOf(scope.actor), way.record.id, { name: sandbox.name, production });
    targets.push(way.record ? { type: 'registered', org: way.record } : { type: 'sandbox', production, sandbox });
  }
  if (targets.length < 2) return targets[0];
  throw ambiguousSandbox(
    name,
    targets.map((target) =>
      target.type === 'registered'
        ? target.org
        : { username: null, sandboxName: target.sandbox.name, parentProductionUsername: target.production.username },
    ),
    parentParameter,
  );
}

/** The scratch org with that username, sought in all dev hubs: those that environments name for it, then the default. */
async function findScratch(
  scope: OrgScope,
  username: string,
  devHub: OrgRow | undefined,
): Promise<ScratchTarget | undefined> {
  const hubs = devHub ? [devHub] : await devHubs(scope.reads);
  const named = hubs.length > 1 ? await namedDevHubs(scope.reads, username) : [];
  const isNamedHub = (hub: OrgRow) => named.some((name) => isSameName(name, hub.username));
  const found = await searchOrgs(
    [...hubs.filter(isNamedHub), ...hubs.filter((hub) => !isNamedHub(hub))],
    `the scratch org ${username}`,
    (org, signal) => scope.crm.connections.callOrg(orgKeyOf(scope, org.id), { signal }).findScratchOrg(username),
    { isEnough: ({ status }) => status === 'Active' },
  );
  const active = found.find(({ value }) => value.status === 'Active') ?? found[0];
  if (!active) return undefined;
  const { org, value: scratch } = active;
  const { orgId } = scratch;
  const way = await reached(scope, { username, platformOrgId: orgId && longId(orgId), sandbox: null });
  return way === 'hidden' ? undefined : { type: 'scratch', devHub: org, scratch, record: way.record };
}

/** A parent org that a request names by username or alias. Throws `invalid_request`, also for one of another kind. */
export async function parentOrg(
  { reads }: Pick<OrgScope, 'reads'>,
  { field, name, kind }: { field: string; name: string; kind: 'production' | 'devhub' },
): Promise<OrgRow> {
  const org = (await orgByUsername(reads, name)) ?? (await orgByAlias(reads, name));
  if (!org) throw invalidField(field, `${name} is not registered`);
  if (kind === 'devhub' && !org.isDevHub) throw invalidField(field, `${name} is not registered as a dev hub`);
  if (kind === 'production' && org.kind !== 'production')
    throw invalidField(field, `${name} is not a production org: its type is ${org.organizationType}`);
  return org;
}

export interface TargetQuery {
  name: string;
  /** Where it is sought: the production org of a sandbox, for `findScratchTarget` the dev hub. */
  parent?: OrgRow | undefined;
  /** The parameter of the request that names the production org; absent: it has none. */
  parentParameter?: 'prodOrg' | 'productionUsername';
}

/**
 * The org of that name: a registered one, a scratch org that a dev hub knows, a sandbox of a production org. Throws
 * `not_found`, `ambiguous`, `upstream_error`, `upstream_timeout`.
 */
export async function findTarget(scope: OrgScope, query: TargetQuery): Promise<OrgTarget> {
  const { name } = query;
  const org = answeringOrg(await orgsByName(scope.reads, name), name, query);
  if (org) return { type: 'registered', org };
  const target = mayBeUsername(name)
    ? await findScratch(scope, name, undefined)
    : mayBeSandboxName(name)
      ? await findSandbox(scope, query)
      : undefined;
  if (!target) throw notFound(`Org ${name}`);
  return target;
}

/** A sandbox by its name, registered or not. Throws `not_found`. */
export async function findSandboxTarget(
  scope: OrgScope,
  query: TargetQuery,
): Promise<RegisteredTarget | SandboxTarget> {
  const { name } = query;
  const orgs = (await orgsByName(scope.reads, name)).filter(({ sandboxName }) => sandboxName !== null);
  const org = answeringOrg(orgs, name, query);
  if (org) return { type: 'registered', org };
  const target = mayBeSandboxName(name) ? await findSandbox(scope, query) : undefined;
  if (!target) throw notFound(`Sandbox ${name}`);
  return target;
}

/** A scratch org by its name. Throws `not_found`, and `invalid_request` without any dev hub. */
export async function findScratchTarget(scope: OrgScope, { name, parent }: TargetQuery): Promise<ScratchTarget> {
  if (!parent && (await devHubs(scope.reads)).length === 0)
    throw invalidField('scratchOrgUsername', 'No dev hub is registered: register the one that made the scratch org');
  const target = await findScratch(scope, name, parent);
  if (!target) throw notFound(`Scratch org ${name}`);
  return target;
}
