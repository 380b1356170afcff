import { sql, type SqlBool } from 'kysely';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';

/** The pages of a session's recording, in the order in which the tabs were opened. */
export const replayPagesOf = ({ db, tenantId }: Reads, sessionId: string) =>
  db
    .selectFrom('browser_replay_page')
    .where('tenantId', '=', tenantId)
    .where('sessionId', '=', sessionId)
    .orderBy('pageId')
    .select(['pageId', 'title', 'startedAt', 'endedAt', 'segments', 'bytes', 'isWhole', 'reason'])
    .execute();

/** Whether it is noted that somebody opened a page of a recording within the last hour. */
export async function isOpeningNoted(
  { db, tenantId }: Reads,
  { sessionId, pageId, email }: { sessionId: string; pageId: string; email: string },
): Promise<boolean> {
  const found = await db
    .selectFrom('browser_session_event')
    .where('tenantId', '=', tenantId)
    .where('sessionId', '=', sessionId)
    .where('kind', '=', 'replay_opened')
    .where('byEmail', '=', email)
    .where(sql<SqlBool>`data ->> 'pageId' = ${pageId}`)
    .where(sql<SqlBool>`occurred_at > now() - interval '1 hour'`)
    .select('number')
    .limit(sql.lit(1))
    .executeTakeFirst();
  return found !== undefined;
}
