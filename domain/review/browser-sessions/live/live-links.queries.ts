import { sql } from 'kysely';
import { json } from '../../../kernel/data/columns.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { newId } from '../../../kernel/shared/ids.ts';
import type { Tx } from '../../../unit-of-work.ts';
import type { LiveMode } from './live-viewer-rules.ts';
import type { SessionRow } from '../sessions.queries.ts';

const COLUMNS = ['id', 'mode', 'createdAt', 'expiresAt', 'revokedAt', 'createdBy'] as const;
/** More than a session can have: at most 20 hold at a time. */
const LISTED_MAX = 200;

/** The links of a session, the newest first, also those that hold no more. */
export const linksOfSession = ({ db, tenantId }: Reads, sessionId: string) =>
  db
    .selectFrom('browser_live_link')
    .where('tenantId', '=', tenantId)
    .where('sessionId', '=', sessionId)
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(sql.lit(LISTED_MAX))
    .select(COLUMNS)
    .execute();
export type LiveLinkRow = Awaited<ReturnType<typeof linksOfSession>>[number];

export const findLink = (
  { db, tenantId }: Reads,
  sessionId: string,
  linkId: string,
): Promise<LiveLinkRow | undefined> =>
  db
    .selectFrom('browser_live_link')
    .where('tenantId', '=', tenantId)
    .where('sessionId', '=', sessionId)
    .where('id', '=', linkId)
    .select(COLUMNS)
    .executeTakeFirst();

export const insertLink = (
  { db, tenantId, now, actor }: Tx,
  { id: sessionId, projectId }: SessionRow,
  { mode, expiresAt }: { mode: LiveMode; expiresAt: Date },
): Promise<LiveLinkRow> =>
  db
    .insertInto('browser_live_link')
    .values({
      id: newId(),
      tenantId,
      projectId,
      sessionId,
      mode,
      expiresAt,
      createdBy: json(actor),
      createdAt: now,
      updatedAt: now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();

export const setRevoked = async ({ db, tenantId, now }: Tx, linkId: string): Promise<void> => {
  await db
    .updateTable('browser_live_link')
    .set({ revokedAt: now, updatedAt: now })
    .where('tenantId', '=', tenantId)
    .where('id', '=', linkId)
    .execute();
};
