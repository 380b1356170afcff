import { sql } from 'kysely';
import { environmentById } from '../../projects/environments/environments.queries.ts';
import { answeringOrg } from '../../projects/environments/org-name-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import { countOrgs, orgsByName, orgsOf, type OrgRow } from '../../orgs/crm-orgs/crm-orgs.queries.ts';

/** What names the org of a run. */
export interface RunInOrg {
  payload: Readonly<Record<string, unknown>>;
  environmentId: string | null;
}

/**
 * The registered org in which a run acts: that of `orgUsername`, else that of its environment. Throws `flow_unavailable` where none is named
 * or registered, or its credential is refused, and `ambiguous`.
 */
export async function orgOfRun(tx: Tx, { payload, environmentId }: RunInOrg): Promise<OrgRow> {
  const found = environmentId === null ? undefined : await environmentById(tx, environmentId);
  const given = typeof payload.orgUsername === 'string' ? payload.orgUsername : found?.environment.orgUsername;
  if (!given) throw unavailable('No org is named: give orgUsername, or an environment that has one');
  const org = answeringOrg(await orgsByName(tx, given), given);
  if (!org) throw unavailable(`The org ${given} is not registered: register it, or name one that is`);
  if (org.healthStatus === 'auth_failed')
    throw unavailable(
      `The org ${org.username} refuses its credential: ${org.healthError ?? ''} ${org.healthHint ?? ''}`.trim(),
    );
  const other = environmentId === null ? await environmentNamedOtherwise(tx, org, given) : undefined;
  if (other !== undefined)
    throw unavailable(
      `The org ${org.username} is that of the environment ${other.name}, which calls it ${other.orgUsername}: name the environment, whose approval, windows and lock hold for it`,
    );
  return org;
}

/** An environment of an org that names it in another way than a payload does, so that its gates are not found by that. */
async function environmentNamedOtherwise(
  { db, tenantId }: Reads,
  { username, sandboxName }: Pick<OrgRow, 'username' | 'sandboxName'>,
  given: string,
): Promise<{ name: string; orgUsername: string | null } | undefined> {
  const names = [username, sandboxName].flatMap((name) => name?.toLowerCase() ?? []);
  return db
    .selectFrom('environment')
    .where('tenantId', '=', tenantId)
    .where(sql<string>`lower(org_username)`, '=', sql<string>`any (${names}::text[])`)
    .where(sql<string>`lower(org_username)`, '<>', given.toLowerCase())
    .select(['name', 'orgUsername'])
    .limit(1)
    .executeTakeFirst();
}

/**
 * Why a run cannot go on in the org that it is given now: its steps are in another one. Null: they are in this one.
 * @param what goes on there, for people: `tests run`.
 */
export async function whyOtherOrg(
  { db, tenantId }: Reads,
  now: Pick<OrgRow, 'username'> & { orgId: string },
  steps: readonly { orgId: string | null }[],
  what: string,
): Promise<string | null> {
  const orgId = steps.find((step) => step.orgId !== null)?.orgId;
  if (!orgId || orgId === now.orgId) return null;
  const former = await orgsOf(db).where('o.tenantId', '=', tenantId).where('o.id', '=', orgId).executeTakeFirst();
  const name = former?.username ?? 'one that is no longer registered';
  return `The org of the environment changed to ${now.username} while ${what} in ${name}: look there`;
}

/**
 * Why a run cannot act in its org, as far as the database knows; null: it can.
 * @param run undefined: any run of the tenant.
 */
export async function whyNoOrg(tx: Tx, run: RunInOrg | undefined): Promise<string | null> {
  if (!run) return (await countOrgs(tx, {})) > 0 ? null : 'No org is registered in which the service could do it';
  try {
    await orgOfRun(tx, run);
    return null;
  } catch (error) {
    if (error instanceof DomainError) return error.message;
    throw error;
  }
}

const unavailable = (detail: string) => new DomainError('flow_unavailable', detail);
