import { sql } from 'kysely';
import type { Tx } from '../../../unit-of-work.ts';

const now = sql<string>`clock_timestamp()`;

/** Commits that are not known request at most one fetch of a project within this time. */
const COMMIT_FETCH_SECONDS = 10;

/**
 * Requests a fetch because of a commit that is not known, unless one is requested that has not begun. Returns in how
 * many milliseconds the mirror is to be signalled; undefined when somebody else does so.
 */
export async function requestCommitFetch(
  { db, tenantId }: Pick<Tx, 'db' | 'tenantId'>,
  projectId: string,
): Promise<number | undefined> {
  const window = sql.lit(COMMIT_FETCH_SECONDS);
  // Looked at first, since an import locks the row.
  const pending = await db
    .selectFrom('git_mirror')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where(
      sql<boolean>`requested_at > attempted_at and requested_at >= clock_timestamp() - make_interval(secs => ${window})`,
    )
    .select('projectId')
    .executeTakeFirst();
  if (pending) return undefined;
  const requested = await db
    .insertInto('git_mirror')
    .values({ tenantId, projectId })
    .onConflict((conflict) =>
      conflict
        .columns(['tenantId', 'projectId'])
        .doUpdateSet({ requestedAt: now })
        .where(
          sql<boolean>`git_mirror.requested_at <= git_mirror.attempted_at or git_mirror.requested_at < clock_timestamp() - make_interval(secs => ${window})`,
        ),
    )
    .returning(
      sql<number>`greatest(0, coalesce(extract(epoch from attempted_at + make_interval(secs => ${window}) - clock_timestamp()) * 1000, 0))::int`.as(
        'waitMs',
      ),
    )
    .executeTakeFirst();
  return requested?.waitMs;
}
