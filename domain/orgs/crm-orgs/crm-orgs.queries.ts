import { sql } from 'kysely';
import type { CrmSandbox } from '../crm/crm-sandboxes.port.ts';
import { longId } from '../crm/org-id-rules.ts';
import { json } from '../../kernel/data/columns.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { statement } from '../../kernel/data/statement.ts';
import type { Database, ReadDatabase } from '../../kernel/data/tables.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';

/** Most orgs of one page of a list. */
export const ORGS_MAX = 5_000;

const COLUMNS = [
  'o.id',
  'o.username',
  'o.sandboxName',
  'o.kind',
  'o.instanceUrl',
  'o.platformOrgId',
  'o.organizationType',
  'o.instanceName',
  'o.parentProductionUsername',
  'o.isJitRegistration',
  'o.isDevHub',
  'o.isDefault',
  'o.metadata',
  'o.expiresAt',
  'o.healthStatus',
  'o.healthCheckedAt',
  'o.healthError',
  'o.healthHint',
  'o.createdAt',
  'o.updatedAt',
] as const;

/** Registered orgs of all tenants that are to be seen, without their credentials. */
export const orgsOf = (db: ReadDatabase) => db.selectFrom('crm_org as o').select(COLUMNS);

/** A registered org, without its credentials. */
export type OrgRow = Awaited<ReturnType<typeof orgsByName>>[number];

const BY_NAME = statement<{ tenantId: string; name: string }>()((db, { tenantId, name }) =>
  orgsOf(db)
    .where('o.tenantId', '=', tenantId)
    .where((eb) =>
      eb.or([
        eb(sql`lower(o.username)`, '=', sql`lower(${name})`),
        eb(sql`lower(o.sandbox_name)`, '=', sql`lower(${name})`),
      ]),
    )
    .orderBy('o.username'),
);

/** The orgs with that username or, without regard to case, sandbox name; `answeringOrg` decides between them. */
export const orgsByName = ({ db, tenantId }: Reads, name: string) => BY_NAME(db, { tenantId, name });

/** The org with that username, without regard to case. */
export const orgByUsername = ({ db, tenantId }: Reads, username: string) =>
  orgsOf(db)
    .where('o.tenantId', '=', tenantId)
    .where(sql`lower(o.username)`, '=', sql`lower(${username})`)
    .executeTakeFirst();

/** What the platform says of an org that was found through another one. */
export interface FoundOrg {
  /** Null where it is not known. */
  username: string | null;
  /** With 18 characters; null where it is not known. */
  platformOrgId: string | null;
  sandbox: { name: string; productionUsername: string } | null;
}

/** A sandbox as its production org knows it. */
export const foundSandbox = (
  { username: productionUsername }: Pick<OrgRow, 'username'>,
  { name, orgId }: Pick<CrmSandbox, 'name' | 'orgId'>,
): FoundOrg => ({ username: null, platformOrgId: orgId && longId(orgId), sandbox: { name, productionUsername } });

/** The platform makes the username of a sandbox of that of its production org and the sandbox's name. */
export const foundUsername = ({ username, sandbox }: FoundOrg): string =>
  username ?? (sandbox ? `${sandbox.productionUsername}.${sandbox.name}` : '');

/** The records of an org that was found at the platform: by its id, its username, or the sandbox's name and production. */
export const recordsOf = ({ db, tenantId }: Reads, { username, platformOrgId, sandbox }: FoundOrg) =>
  orgsOf(db)
    .where('o.tenantId', '=', tenantId)
    .where((eb) =>
      eb.or([
        eb('o.platformOrgId', '=', platformOrgId),
        eb(sql`lower(o.username)`, '=', sql`lower(${username})`),
        eb.and([
          eb(sql`lower(o.sandbox_name)`, '=', sql`lower(${sandbox?.name ?? null})`),
          eb(sql`lower(o.parent_production_username)`, '=', sql`lower(${sandbox?.productionUsername ?? null})`),
        ]),
      ]),
    )
    .orderBy('o.username')
    .execute();

/** The usernames that an environment or list of dev hubs names which the caller sees. */
export async function namedOrgs({ db }: Reads, usernames: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ username: string }>`
    select username from unnest(${usernames}::text[]) given (username)
    where lower(username) in (select named_orgs())`.execute(db);
  return rows.map(({ username }) => username);
}

/** The production org or dev hub whose metadata have that `alias`. */
export const orgByAlias = ({ db, tenantId }: Reads, alias: string) =>
  orgsOf(db)
    .where('o.tenantId', '=', tenantId)
    .where((eb) => eb.or([eb('o.kind', '=', 'production'), eb('o.isDevHub', '=', true)]))
    .where(sql<boolean>`o.metadata->>'alias' = ${alias}`)
    .orderBy('o.username')
    .limit(sql.lit(1))
    .executeTakeFirst();

export interface OrgFilter {
  /** An `organizationType`, or `production`, `sandbox`, `scratch`, `devhub`; without regard to case. */
  type?: string | undefined;
  isDevHub?: boolean | undefined;
  /** All pairs must hold. */
  metadata?: Record<string, string> | undefined;
}

function filtered({ db, tenantId }: Reads, { type, isDevHub, metadata }: OrgFilter) {
  let orgs = db.selectFrom('crm_org as o').where('o.tenantId', '=', tenantId);
  if (type?.toLowerCase() === 'devhub') orgs = orgs.where('o.isDevHub', '=', true);
  else if (type !== undefined)
    orgs = orgs.where((eb) =>
      eb.or([
        eb('o.kind', '=', sql<never>`lower(${type})`),
        eb(sql`lower(o.organization_type)`, '=', sql`lower(${type})`),
      ]),
    );
  if (isDevHub !== undefined) orgs = orgs.where('o.isDevHub', '=', isDevHub);
  if (metadata) orgs = orgs.where(sql<boolean>`o.metadata @> ${json(metadata)}::jsonb`);
  return orgs;
}

/** A page of the orgs by username. */
export const listOrgs = (reads: Reads, filter: OrgFilter, { limit, offset }: { limit: number; offset: number }) =>
  filtered(reads, filter)
    .select(COLUMNS)
    .orderBy(sql`lower(o.username)`)
    .limit(sql.lit(limit))
    .offset(offset)
    .execute();

export async function countOrgs(reads: Reads, filter: OrgFilter): Promise<number> {
  const { total } = await filtered(reads, filter)
    .select(sql<number>`count(*)::int`.as('total'))
    .executeTakeFirstOrThrow();
  return total;
}

/** Production orgs by username: what may have sandboxes. */
export const productionOrgs = ({ db, tenantId }: Reads) =>
  orgsOf(db)
    .where('o.tenantId', '=', tenantId)
    .where('o.kind', '=', 'production')
    .orderBy('o.username')
    .limit(sql.lit(ORGS_MAX))
    .execute();

/** Registered sandboxes of a production org: those that name it, and those with one of these ids of the platform. */
export const sandboxRecords = (
  { db, tenantId }: Reads,
  productionUsername: string,
  platformOrgIds: readonly string[],
) =>
  db
    .selectFrom('crm_org as o')
    .where('o.tenantId', '=', tenantId)
    .where((eb) =>
      eb.or([
        eb(sql`lower(o.parent_production_username)`, '=', sql`lower(${productionUsername})`),
        eb('o.platformOrgId', '=', sql<string>`any (${platformOrgIds}::text[])`),
      ]),
    )
    .select(['o.username', 'o.sandboxName', 'o.platformOrgId'])
    .execute();

/** The environments that name one of these orgs by its username, as their org or dev hub; `orgUsername` in lower case. */
export const environmentsNaming = ({ db, tenantId }: Reads, usernames: readonly string[]) =>
  db
    .selectFrom('environment as e')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'e.tenantId').onRef('p.id', '=', 'e.projectId'))
    .innerJoin(
      sql<{ username: string }>`lateral unnest(array[lower(e.org_username), lower(e.dev_hub_username)])`.as<'named'>(
        sql`named (username)`,
      ),
      (join) => join.onTrue(),
    )
    .where('e.tenantId', '=', tenantId)
    .where('named.username', '=', sql<string>`any (${usernames.map((username) => username.toLowerCase())}::text[])`)
    .orderBy('p.identifier')
    .orderBy('e.name')
    .distinct()
    .select(['named.username as orgUsername', 'p.identifier as repositoryIdentifier', 'e.name'])
    .execute();

/** Orgs of all tenants that expire within so many days, and of which it was not announced. */
export const expiringOrgs = (system: Database, withinDays: number, limit: number) =>
  system
    .selectFrom('crm_org as o')
    .where('o.expiryAnnouncedAt', 'is', null)
    .where('o.expiresAt', '>', sql<string>`now()`)
    .where('o.expiresAt', '<', sql<string>`now() + make_interval(days => ${withinDays})`)
    .orderBy('o.expiresAt')
    .limit(limit)
    .select(['o.id', 'o.tenantId', tenantSlugOf('o.tenantId')])
    .execute();
