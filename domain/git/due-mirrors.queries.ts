import { sql } from 'kysely';
import { secondsAgo } from '../data/conditions.ts';
import type { Database } from '../data/tables.ts';

export interface DueMirror {
  tenantId: string;
  projectId: string;
  repositoryIdentifier: string;
  /** A fetch was asked for and not begun; else the mirror is only as old as it may be. */
  isLost: boolean;
}

/** Mirrors that are due for a fetch, or for which one was asked so long ago and not begun. */
export const dueMirrors = (system: Database, overdueSeconds: number, limit: number): Promise<DueMirror[]> =>
  system
    .selectFrom('project as p')
    .leftJoin('git_mirror as m', (join) =>
      join.onRef('m.tenantId', '=', 'p.tenantId').onRef('m.projectId', '=', 'p.id'),
    )
    .select([
      'p.tenantId',
      'p.id as projectId',
      'p.identifier as repositoryIdentifier',
      sql<boolean>`coalesce(m.requested_at > m.attempted_at, true)`.as('isLost'),
    ])
    .where('p.remoteUrl', 'is not', null)
    .where((eb) => {
      const overdue = secondsAgo(overdueSeconds);
      const wasNeverAsked = eb('m.requestedAt', 'is', null);
      const wasAskedLongAgo = eb('m.requestedAt', '<', overdue);
      return eb.or([
        eb.and([eb('m.attemptedAt', 'is', null), eb.or([wasNeverAsked, wasAskedLongAgo])]),
        eb.and([eb('m.nextFetchAt', '<=', sql<string>`now()`), eb('m.attemptedAt', '<', overdue)]),
        eb.and([eb('m.requestedAt', '>', eb.ref('m.attemptedAt')), wasAskedLongAgo]),
      ]);
    })
    .orderBy('m.nextFetchAt', (order) => order.asc().nullsFirst())
    .limit(limit)
    .execute();
