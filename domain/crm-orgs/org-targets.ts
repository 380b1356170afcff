import type { CrmAnswer, CrmFailure, CrmSandbox, ScratchOrg } from '../crm/crm-platform.port.ts';
import { failure as crmFailure } from '../crm/platform-error-rules.ts';
import { longId } from '../crm/org-id-rules.ts';
import { tenantOf } from '../shared/actor.ts';
import { invalidField, notFound } from '../shared/errors.ts';
import {
  devHubs,
  type FoundOrg,
  namedDevHubs,
  orgByAlias,
  orgByUsername,
  orgsByName,
  type OrgRow,
  productionOrgs,
  recordsOf,
} from './crm-orgs.queries.ts';
import {
  ambiguousSandbox,
  answeringOrg,
  isSameName,
  mayBeSandboxName,
  mayBeUsername,
  platformFailed,
} from './org-rules.ts';
import { type OrgScope, placeOf } from './org-scope.ts';

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
}

/** Of a search through registered orgs: so many are asked at once, and so long in all. */
const ASKED_AT_ONCE = 8;
const SEARCH_MS = 10_000;

const TOO_SLOW = crmFailure('timeout', null, 'It did not answer in time.', 'Try again, or name the org to ask.');

/** Asks orgs for something until one has what `isEnough`, or all were asked. */
async function search<Value>(
  orgs: readonly OrgRow[],
  what: string,
  ask: (org: OrgRow, signal: AbortSignal) => Promise<CrmAnswer<Value | null>>,
  { isEnough }: { isEnough: (value: Value) => boolean },
): Promise<{ org: OrgRow; value: Value }[]> {
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(SEARCH_MS)]);
  const found: { org: OrgRow; value: Value }[] = [];
  const failures: { org: OrgRow; failure: CrmFailure }[] = [];
  const queue = orgs.values();
  const worker = async () => {
    for (const org of queue) {
      const answer = await ask(org, signal).catch((error: unknown) => {
        if (signal.aborted) return TOO_SLOW;
        throw error;
      });
      if (!answer.isOk) failures.push({ org, failure: answer });
      else if (answer.value !== null) found.push({ org, value: answer.value });
      if (found.some(({ value }) => isEnough(value))) ended.abort();
    }
  };
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, worker));
  const [failed] = failures;
  // One that does not answer might have it, too; that counts only while no other one has it.
  if (found.length === 0 && failed)
    throw platformFailed(`Org ${failed.org.username} was asked for ${what}`, failed.failure);
  return found.toSorted((left, right) => orgs.indexOf(left.org) - orgs.indexOf(right.org));
}

/**
 * The record of an org that was found through another one. Throws `not_found` when the caller is limited to projects and
 * the record is one of others: the way through a production org or dev hub leads to no more than the record itself.
 */
async function visibleRecord(scope: OrgScope, what: string, found: FoundOrg): Promise<OrgRow | undefined> {
  const records = await scope.crm.connections.recordsOf(tenantOf(scope.actor), found);
  if (records.length === 0 || !scope.actor.projectIds) return records[0];
  const [visible] = await recordsOf(scope.reads, found);
  if (!visible) throw notFound(what);
  return visible;
}

/**
 * The sandbox of that name, at a production org or at every registered one. Throws `ambiguous` for one of several,
 * `upstream_error` and `upstream_timeout` when nobody has it and somebody did not answer.
 */
async function findSandbox(
  scope: OrgScope,
  name: string,
  production: OrgRow | undefined,
): Promise<RegisteredTarget | SandboxTarget | undefined> {
  const productions = production ? [production] : await productionOrgs(scope.reads);
  const found = await search(
    productions,
    `the sandbox ${name}`,
    (org, signal) => scope.crm.connections.callOrg(placeOf(scope, org.id), { signal }).findSandbox(name),
    { isEnough: () => false },
  );
  if (found.length > 1)
    throw ambiguousSandbox(
      name,
      found.map(({ org, value }) => ({ sandboxName: value.name, productionUsername: org.username })),
    );
  const [only] = found;
  if (!only) return undefined;
  const { org, value: sandbox } = only;
  const record = await visibleRecord(scope, `Sandbox ${name}`, {
    username: null,
    platformOrgId: sandbox.orgId && longId(sandbox.orgId),
    sandbox: { name: sandbox.name, productionUsername: org.username },
  });
  return record ? { type: 'registered', org: record } : { type: 'sandbox', production: org, sandbox };
}

/** The scratch org with that username, sought in all dev hubs: those that environments name for it, then the default. */
async function findScratch(
  scope: OrgScope,
  username: string,
  devHub: OrgRow | undefined,
): Promise<ScratchTarget | undefined> {
  const hubs = devHub ? [devHub] : await devHubs(scope.reads);
  const named = hubs.length > 1 ? await namedDevHubs(scope.reads, username) : [];
  const isNamed = (hub: OrgRow) => named.some((name) => isSameName(name, hub.username));
  const found = await search(
    [...hubs.filter(isNamed), ...hubs.filter((hub) => !isNamed(hub))],
    `the scratch org ${username}`,
    (org, signal) => scope.crm.connections.callOrg(placeOf(scope, org.id), { signal }).findScratchOrg(username),
    { isEnough: ({ status }) => status === 'Active' },
  );
  const active = found.find(({ value }) => value.status === 'Active') ?? found[0];
  if (!active) return undefined;
  const { org, value: scratch } = active;
  const { orgId } = scratch;
  await visibleRecord(scope, `Scratch org ${username}`, {
    username,
    platformOrgId: orgId && longId(orgId),
    sandbox: null,
  });
  return { type: 'scratch', devHub: org, scratch };
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
}

/**
 * The org of that name: a registered one, a scratch org that a dev hub knows, a sandbox of a production org. Throws
 * `not_found`, `ambiguous`, `upstream_error`, `upstream_timeout`.
 */
export async function findTarget(scope: OrgScope, { name, parent }: TargetQuery): Promise<OrgTarget> {
  const org = answeringOrg(await orgsByName(scope.reads, name), name, parent?.username);
  if (org) return { type: 'registered', org };
  const target = mayBeUsername(name)
    ? await findScratch(scope, name, undefined)
    : mayBeSandboxName(name)
      ? await findSandbox(scope, name, parent)
      : undefined;
  if (!target) throw notFound(`Org ${name}`);
  return target;
}

/** The same for sandboxes alone, registered or not. */
export async function findSandboxTarget(
  scope: OrgScope,
  { name, parent }: TargetQuery,
): Promise<RegisteredTarget | SandboxTarget> {
  const orgs = (await orgsByName(scope.reads, name)).filter(({ sandboxName }) => sandboxName !== null);
  const org = answeringOrg(orgs, name, parent?.username);
  if (org) return { type: 'registered', org };
  const target = mayBeSandboxName(name) ? await findSandbox(scope, name, parent) : undefined;
  if (!target) throw notFound(`Sandbox ${name}`);
  return target;
}

/** The same for scratch orgs alone. Throws `invalid_request` without any dev hub. */
export async function findScratchTarget(scope: OrgScope, { name, parent }: TargetQuery): Promise<ScratchTarget> {
  if (!parent && (await devHubs(scope.reads)).length === 0)
    throw invalidField('scratchOrgUsername', 'No dev hub is registered: register the one that made the scratch org');
  const target = await findScratch(scope, name, parent);
  if (!target) throw notFound(`Scratch org ${name}`);
  return target;
}
