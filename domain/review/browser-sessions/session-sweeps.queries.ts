import { sql, type SqlBool } from 'kysely';
import { secondsAgo } from '../../kernel/data/conditions.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { TenantKey } from '../../kernel/shared/actor.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';
import type { BrowserSessionKey } from '../review.signals.ts';

/** A workflow that lives does what is due within this time. */
const DONE_WITHIN_SECONDS = 30;
/** What its workflow tries again and again is not brought up more often. */
const SEEN_WITHIN_SECONDS = 300;

/** What a session shows, as `subjectOf` says it. */
const SUBJECT = sql<string>`coalesce('PR ' || s.pr_number,
  (select e.name from environment e where e.tenant_id = s.tenant_id and e.id = s.environment_id), s.org_username)`;

/**
 * Sessions whose workflow has not seen them, or has not done what was due, those that wait to be released or removed, and
 * live ones every five minutes.
 */
export const stalledSessions = (
  system: Database,
  unseenSeconds: number,
  limit: number,
): Promise<(TenantKey & BrowserSessionKey & { isLive: boolean })[]> =>
  system
    .selectFrom('browser_session as s')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 's.tenantId').onRef('p.id', '=', 's.projectId'))
    .where(sql<SqlBool>`(s.released_at is null or s.removed_at is not null or s.recording_state = 'processing')`)
    .where((eb) =>
      eb.or([
        eb.and([eb('s.seenAt', 'is', null), eb('s.createdAt', '<', secondsAgo(unseenSeconds))]),
        sql<SqlBool>`s.seen_at < ${secondsAgo(SEEN_WITHIN_SECONDS)} and (
          s.status in ('live', 'ended', 'expired', 'error')
          or s.status = 'provisioning' and s.created_at < ${secondsAgo(SEEN_WITHIN_SECONDS + DONE_WITHIN_SECONDS)})`,
        sql<SqlBool>`s.status = 'live' and s.expires_at < ${secondsAgo(DONE_WITHIN_SECONDS)}
          and s.seen_at < ${secondsAgo(DONE_WITHIN_SECONDS)}`,
      ]),
    )
    .orderBy('s.createdAt')
    .limit(limit)
    .select([
      's.tenantId',
      tenantSlugOf('s.tenantId'),
      's.id as sessionId',
      'p.identifier as repositoryIdentifier',
      SUBJECT.as('subject'),
      sql<boolean>`s.status = 'live' and s.expires_at > now()`.as('isLive'),
    ])
    .execute();

/** Sessions whose recordings have been kept long enough. */
export const agedRecordings = (system: Database, days: number, limit: number) =>
  system
    .selectFrom('browser_session as s')
    .where(sql<SqlBool>`s.recording_state in ('processing', 'ready', 'partial')`)
    .where(sql<SqlBool>`s.removed_at is null and s.ended_at < now() - make_interval(days => ${days})`)
    .orderBy('s.endedAt')
    .limit(limit)
    .select(['s.tenantId', tenantSlugOf('s.tenantId'), 's.id as sessionId'])
    .execute();

/** Projects in whose names browsers were hosted in the last day, in any order. */
export const projectsWithHostedSessions = (system: Database, limit: number) =>
  system
    .selectFrom('browser_session as s')
    .where('s.provider', '=', 'browserbase')
    .where(sql<SqlBool>`s.created_at > now() - interval '1 day'`)
    .groupBy(['s.tenantId', 's.projectId'])
    // Those beyond the limit get their turn in another pass.
    .orderBy(sql`random()`)
    .limit(limit)
    .select(['s.tenantId', tenantSlugOf('s.tenantId'), 's.projectId'])
    .execute();

/** Removes hosts that have been silent for long, and that no session names. */
export async function removeSilentHosts(system: Database): Promise<number> {
  const { numDeletedRows } = await system
    .deleteFrom('browser_host')
    .where(sql<SqlBool>`seen_at < now() - interval '1 day'`)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
