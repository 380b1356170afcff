import { sql } from 'kysely';
import { ORGS_MAX } from '../crm-orgs/crm-orgs.queries.ts';
import type { CrmFailureKind } from '../crm/crm-platform.port.ts';
import type { Reads } from '../data/fenced-reads.ts';
import { EPOCH_MS } from './poll-store.queries.ts';

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

/** The limits of an org as the last poll found them; undefined before there was one. */
export const limitsOfOrg = ({ db, tenantId }: Reads, orgId: string) =>
  db
    .selectFrom('org_limit_state')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .select(['polledAt', 'limits'])
    .executeTakeFirst();

/** The samples of an org in a span, the oldest first. */
export const samplesOfOrg = ({ db, tenantId }: Reads, orgId: string, { start, end }: { start: number; end: number }) =>
  db
    .selectFrom('org_limit_sample')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .where('sampledAt', '>=', new Date(start).toISOString())
    .where('sampledAt', '<', new Date(end).toISOString())
    .orderBy('sampledAt')
    .select([
      EPOCH_MS.as('at'),
      sql<(number | null)[]>`to_json(used)`.as('used'),
      sql<(number | null)[]>`to_json(max)`.as('max'),
    ])
    .execute();
