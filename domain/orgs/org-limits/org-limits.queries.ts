import { sql } from 'kysely';
import { ORGS_MAX } from '../crm-orgs/crm-orgs.queries.ts';
import type { CrmFailureKind } from '../crm/crm-platform.port.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';

/** Orgs by username with what their last poll found. */
export const polledOrgs = ({ db, tenantId }: Reads) =>
  db
    .selectFrom('crm_org as o')
    .leftJoin('org_limit_state as s', (join) =>
      join.onRef('s.tenantId', '=', 'o.tenantId').onRef('s.orgId', '=', 'o.id'),
    )
    .where('o.tenantId', '=', tenantId)
    .orderBy(sql`lower(o.username)`)
    .limit(sql.lit(ORGS_MAX))
    .select([
      'o.username',
      'o.healthStatus',
      's.polledAt',
      sql<CrmFailureKind | null>`s.failure->>'kind'`.as('failure'),
      's.worst',
    ])
    .execute();

/** The registered org of an environment; undefined where anything of it is missing. */
export const orgOfEnvironment = (
  { db, tenantId }: Reads,
  { repositoryIdentifier, environmentName }: { repositoryIdentifier: string; environmentName: string },
) =>
  db
    .selectFrom('project as p')
    .innerJoin('environment as e', (join) =>
      join.onRef('e.tenantId', '=', 'p.tenantId').onRef('e.projectId', '=', 'p.id'),
    )
    .innerJoin('crm_org as o', (join) =>
      join.onRef('o.tenantId', '=', 'e.tenantId').on(sql`lower(o.username)`, '=', sql`lower(e.org_username)`),
    )
    .where('p.tenantId', '=', tenantId)
    .where('p.identifier', '=', repositoryIdentifier)
    .where('e.name', '=', environmentName)
    .select(['o.id', 'o.username'])
    .executeTakeFirst();

/** The limits of an org as the last poll found them; undefined before there was one. */
export const limitsOfOrg = ({ db, tenantId }: Reads, orgId: string) =>
  db
    .selectFrom('org_limit_state')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .select(['polledAt', 'limits'])
    .executeTakeFirst();

/** What projects that name these orgs say of limits, by username in lower case: `metricsAlertConfig.orgLimits`. */
export async function limitSettingsByOrg({ db, tenantId }: Reads, usernames: readonly string[]) {
  const names = usernames.map((username) => username.toLowerCase());
  const { rows } = await sql<{ username: string; orgLimits: unknown }>`
    with named as (
      select lower(org.username) as username, e.project_id
      from environment e, unnest(array[e.org_username, e.dev_hub_username]) org (username)
      where e.tenant_id = ${tenantId} and lower(org.username) = any (${names}::text[])
      union
      select lower(hub), p.id
      from project p, jsonb_array_elements_text(case jsonb_typeof(p.configuration->'devHubs') when 'array'
        then p.configuration->'devHubs' else '[]' end) hub
      where p.tenant_id = ${tenantId} and lower(hub) = any (${names}::text[]))
    select n.username, p.configuration->'metricsAlertConfig'->'orgLimits' as "orgLimits"
    from named n join project p on p.tenant_id = ${tenantId} and p.id = n.project_id`.execute(db);
  return Map.groupBy(rows, ({ username }) => username);
}
