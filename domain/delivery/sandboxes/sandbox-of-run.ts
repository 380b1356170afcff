import { environmentById } from '../../projects/environments/environments.queries.ts';
import { answeringOrg, isSameName, mayBeSandboxName } from '../../projects/environments/org-name-rules.ts';
import { recordsOfSandbox } from '../../orgs/crm-orgs/copied-sandboxes.mutations.ts';
import type { SandboxOf } from '../../orgs/crm-orgs/crm-orgs.mutations.ts';
import {
  namedOrgs,
  orgByUsername,
  orgsByName,
  type OrgRow,
  productionOrgs,
} from '../../orgs/crm-orgs/crm-orgs.queries.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { RunInOrg } from '../org-steps/org-of-run.ts';
import { CREATE, textOf } from './sandbox-rules.ts';

/** The sandbox that a run is about. */
export interface SandboxOfRun {
  name: string;
  production: OrgRow;
  /** Its registered orgs: one for each username that is registered. */
  records: readonly OrgRow[];
}

const unavailable = (detail: string) => new DomainError('flow_unavailable', detail);

/**
 * The sandbox that a payload names, by its name or by an org or environment that is one, with its production org: that of
 * `productionUsername`, of the org, the one whose sandbox has that name, or the only one. Throws `flow_unavailable` where none
 * is found or reached, and `ambiguous`.
 */
export async function sandboxOfRun(tx: Tx, act: string, { payload, environmentId }: RunInOrg): Promise<SandboxOfRun> {
  const found = environmentId === null ? undefined : await environmentById(tx, environmentId);
  const given = textOf(payload.orgUsername) ?? found?.environment.orgUsername ?? undefined;
  const productionUsername = textOf(payload.productionUsername);
  const parent = productionUsername === undefined ? undefined : { username: productionUsername };
  const org = given === undefined ? undefined : answeringOrg(await orgsByName(tx, given), given, { parent });
  const name = textOf(payload.sandboxName) ?? org?.sandboxName ?? given;
  if (name === undefined || !mayBeSandboxName(name))
    throw unavailable(
      'No sandbox is named: give sandboxName, of at most 10 letters and digits, or an environment of one',
    );
  const production = await productionOf(tx, productionUsername, name, org);
  if (production.healthStatus === 'auth_failed')
    throw unavailable(
      `The org ${production.username} refuses its credential: ${production.healthError ?? ''} ${production.healthHint ?? ''}`.trim(),
    );
  const source = act === CREATE ? textOf(payload.sourceSandboxName) : name;
  if (source !== undefined) await assertReached(tx, { name: source, production });
  const records = await recordsOfSandbox(tx, { name, production });
  // As the platform writes it, where that is known.
  const known = records.find(({ sandboxName }) => sandboxName !== null && isSameName(sandboxName, name));
  return { name: known?.sandboxName ?? name, production, records };
}

/** A caller who is limited to projects reaches no more sandboxes through a production org than those that it sees or names. */
async function assertReached(tx: Tx, sandbox: SandboxOf): Promise<void> {
  if (!tx.actor.projectIds) return;
  const { name, production } = sandbox;
  const records = await recordsOfSandbox(tx, sandbox);
  const named = records.length > 0 ? [] : await namedOrgs(tx, [`${production.username}.${name}`, name]);
  if (records.length === 0 && named.length === 0)
    throw unavailable(`${production.username} has no sandbox named ${name} that this token sees`);
}

async function productionOf(
  tx: Tx,
  username: string | undefined,
  name: string,
  org: OrgRow | undefined,
): Promise<OrgRow> {
  if (username === undefined && org?.kind === 'production') return org;
  const parent = username ?? (await sandboxNamed(tx, name, org))?.parentProductionUsername ?? undefined;
  if (parent !== undefined) {
    const production = await orgByUsername(tx, parent);
    if (production?.kind === 'production') return production;
    throw unavailable(`The production org ${parent} is not registered: register it, or name one that is`);
  }
  const [only, ...others] = await productionOrgs(tx);
  if (only && others.length === 0) return only;
  throw unavailable(
    only
      ? `Several production orgs are registered: name that of sandbox ${name} in productionUsername`
      : 'No production org is registered in which the service could do it',
  );
}

/** Throws `ambiguous` where sandboxes of several production orgs have that name. */
async function sandboxNamed(tx: Tx, name: string, org: OrgRow | undefined): Promise<OrgRow | undefined> {
  return org?.sandboxName ? org : answeringOrg((await orgsByName(tx, name)).filter(isSandbox), name);
}

const isSandbox = ({ sandboxName }: OrgRow): boolean => sandboxName !== null;
