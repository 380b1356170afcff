import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';

/** The limit of each of these orgs that is nearest to its end, as the last poll found it. */
export const worstLimits = ({ db, tenantId }: Reads, orgIds: readonly string[]) =>
  db
    .selectFrom('org_limit_state')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', sql<string>`any (${orgIds}::uuid[])`)
    .where('worst', 'is not', null)
    .select(['orgId', 'worst'])
    .execute();

/** The newest sync of each of these orgs that ended; of a sandbox that was refreshed since, none counts. */
export const lastSyncs = ({ db, tenantId }: Reads, orgIds: readonly string[]) =>
  db
    .selectFrom('crm_org as o')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('org_sync as s')
          .where('s.tenantId', '=', tenantId)
          .whereRef('s.orgId', '=', 'o.id')
          .where('s.status', 'in', sql<never>`('succeeded', 'failed')`)
          .where((sync) =>
            sync.or([sync('s.platformOrgId', '=', sync.ref('o.platformOrgId')), sync('s.platformOrgId', 'is', null)]),
          )
          .orderBy('s.createdAt', 'desc')
          .orderBy('s.id', 'desc')
          .limit(sql.lit(1))
          .select(['s.id as jobId', 's.status', 's.finishedAt', 's.message'])
          .as('last'),
      (join) => join.onTrue(),
    )
    .where('o.tenantId', '=', tenantId)
    .where('o.id', '=', sql<string>`any (${orgIds}::uuid[])`)
    .select(['o.id as orgId', 'last.jobId', 'last.status', 'last.finishedAt', 'last.message'])
    .execute();
