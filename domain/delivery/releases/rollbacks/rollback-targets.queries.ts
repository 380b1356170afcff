import { sql } from 'kysely';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { InstalledRelease } from './rollback-target-rules.ts';

/** The newest reports that a rollback looks at. */
const REPORTS_MAX = 1_000;

/** The newest reports of a domain's deployments to an environment, newest first. */
export const installedReleases = (
  { db, tenantId }: Reads,
  { environmentId, domain }: { environmentId: string; domain: string },
): Promise<InstalledRelease[]> =>
  db
    .selectFrom('release_deployment as d')
    .leftJoin('release_candidate as c', (join) =>
      join.onRef('c.tenantId', '=', 'd.tenantId').onRef('c.id', '=', 'd.candidateId'),
    )
    .where('d.tenantId', '=', tenantId)
    .where('d.environmentId', '=', environmentId)
    .where('d.domain', '=', domain)
    .orderBy('d.deployedAt', 'desc')
    .orderBy('d.createdAt', 'desc')
    .orderBy('d.id', 'desc')
    .limit(sql.lit(REPORTS_MAX))
    .select([
      'd.releaseName',
      'd.contentDigest',
      'c.contentDigest as currentDigest',
      'd.status',
      sql<boolean>`d.rolled_back_at is not null`.as('isRolledBack'),
      sql<boolean>`coalesce(d.metadata ->> 'taskType' = 'rollback-release', false)`.as('isByRollback'),
    ])
    .execute();
