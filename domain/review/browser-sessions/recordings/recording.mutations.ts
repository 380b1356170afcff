import { sql, type SqlBool } from 'kysely';
import type { Tx } from '../../../unit-of-work.ts';
import { SEGMENT_SECONDS } from './recorded-playlist-rules.ts';

/** What is recorded of a tab. */
export interface RecordedPage {
  title: string;
  segments: number;
  bytes: number;
  /** Null: it goes on. */
  endedAt: Date | null;
  /** Why something of it is missing; null: it is whole. */
  reason: string | null;
}

interface PageKey {
  sessionId: string;
  pageId: number;
}

const TITLE_MAX = 300;
/** PostgreSQL stores no U+0000, and a half of a pair is no text. */
const titled = (title: string): string => title.replaceAll('\0', '').slice(0, TITLE_MAX).toWellFormed();

/** A session of which something may be recorded: it is not deleted, nor its recording removed. */
const recorded = ({ db, tenantId }: Tx, sessionId: string) =>
  db
    .selectFrom('browser_session')
    .where('tenantId', '=', tenantId)
    .where('id', '=', sessionId)
    .where('removedAt', 'is', null)
    .where('recordingState', '!=', 'expired');

/** Notes that the recording of a tab begins; false when it is not wanted any more. Retrying is safe. */
export async function beginPage(
  tx: Tx,
  { sessionId, pageId }: PageKey,
  { title, startedAt }: { title: string; startedAt: Date },
): Promise<boolean> {
  const session = await recorded(tx, sessionId).select('projectId').forKeyShare().executeTakeFirst();
  if (!session) return false;
  await tx.db
    .insertInto('browser_replay_page')
    .values({
      tenantId: tx.tenantId,
      sessionId,
      pageId,
      projectId: session.projectId,
      title: titled(title),
      startedAt: startedAt.toISOString(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return true;
}

/** Notes how far the recording of a tab is; false when it is not wanted any more. Retrying is safe. */
export async function notePage(
  tx: Tx,
  { sessionId, pageId }: PageKey,
  { title, segments, bytes, endedAt, reason }: RecordedPage,
): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('browser_replay_page')
    .where('tenantId', '=', tx.tenantId)
    .where('sessionId', '=', sessionId)
    .where('pageId', '=', pageId)
    .where((eb) => eb.exists(recorded(tx, sessionId).select('id')))
    .set({
      title: titled(title),
      segments,
      bytes: String(bytes),
      endedAt: endedAt === null ? null : endedAt.toISOString(),
      isWhole: reason === null,
      reason,
    })
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Closes the pages whose recorder was lost, at the end of what it stored. */
export async function closeCutOffPages({ db, tenantId }: Tx, sessionId: string): Promise<void> {
  await db
    .updateTable('browser_replay_page')
    .where('tenantId', '=', tenantId)
    .where('sessionId', '=', sessionId)
    .where(sql<SqlBool>`ended_at is null`)
    .set({
      endedAt: sql<string>`started_at + make_interval(secs => segments * ${SEGMENT_SECONDS}::int)`,
      isWhole: false,
      reason: sql<string>`coalesce(reason, 'The host that recorded it was lost.')`,
    })
    .execute();
}
