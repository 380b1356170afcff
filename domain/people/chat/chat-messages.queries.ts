import { sql } from 'kysely';
import { msUntilDue, untilDue } from '../../kernel/data/leases.ts';
import { statement } from '../../kernel/data/statement.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { Tx } from '../../unit-of-work.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';
import type { ChatLaneKey } from './chat-actions.queries.ts';
import type { MessagePlace } from './chat-platform.port.ts';

/** Marks the messages about an approval that changed; answers the workspaces in which there are any. */
export async function markApprovalMessages({ db, tenantId }: Tx, approvalId: string): Promise<string[]> {
  const rows = await db
    .updateTable('chat_message')
    .set((eb) => ({
      wantedRevision: eb('wantedRevision', '+', 1),
      attempts: 0,
      dueAt: sql<string>`now()`,
      updatedAt: sql<string>`now()`,
    }))
    .where('tenantId', '=', tenantId)
    .where('approvalId', '=', approvalId)
    .returning('workspaceId')
    .execute();
  return [...new Set(rows.map(({ workspaceId }) => workspaceId))];
}

/** What became of a message whose place was noted. */
export interface NotedMessage {
  /** It was not known before. */
  isNew: boolean;
  /** The approval changed while it was sent, so that it is to be changed at once. */
  isChanged: boolean;
}

/**
 * Keeps where a message about an open approval is. The lock of the approval makes sure that whoever changes it sees the message, or is seen here.
 */
export async function insertApprovalMessage(
  { db, tenantId }: Tx,
  { workspaceId, approvalId, channel, ts }: MessagePlace & { workspaceId: string; approvalId: string },
): Promise<NotedMessage> {
  const approval = await db
    .selectFrom('approval')
    .where('tenantId', '=', tenantId)
    .where('id', '=', approvalId)
    .forShare()
    .select((eb) => [
      'status',
      eb
        .exists(
          eb
            .selectFrom('approval_event as e')
            .whereRef('e.tenantId', '=', 'approval.tenantId')
            .whereRef('e.approvalId', '=', 'approval.id')
            .where('e.voterId', 'is not', null)
            .select(sql.lit(1).as('one')),
        )
        .as('hasVotes'),
    ])
    .executeTakeFirst();
  if (!approval) return { isNew: true, isChanged: false };
  const isChanged = approval.status !== 'requested' || approval.hasVotes === true;
  const added = await db
    .insertInto('chat_message')
    .values({ tenantId, workspaceId, channel, ts, approvalId, wantedRevision: isChanged ? 1 : 0 })
    .onConflict((conflict) => conflict.doNothing())
    .returning('ts')
    .executeTakeFirst();
  return { isNew: added !== undefined, isChanged };
}

const LEASE_MS = 60_000;
const NOW = sql<string>`now()`;
/** And held by nobody. */
const IS_DUE = sql<boolean>`m.shown_revision < m.wanted_revision and m.due_at <= now()
  and (m.lease_until is null or m.lease_until <= now())`;

const CLAIM = statement<{ workspaceId: string; limit: number }>()((db, { workspaceId, limit }) =>
  db
    .with('due', (inner) =>
      inner
        .selectFrom('chat_message as m')
        .where('m.workspaceId', '=', workspaceId)
        .where(IS_DUE)
        .orderBy('m.dueAt')
        .limit(limit)
        .forUpdate()
        .skipLocked()
        .select(['m.tenantId', 'm.workspaceId as workspace_id', 'm.channel', 'm.ts']),
    )
    .updateTable('chat_message as m')
    .from('due')
    .set((eb) => ({
      attempts: eb('m.attempts', '+', sql.lit(1)),
      leaseUntil: sql<string>`now() + ${sql.lit(LEASE_MS)} * interval '1 ms'`,
    }))
    .whereRef('m.tenantId', '=', 'due.tenantId')
    .whereRef('m.workspaceId', '=', 'due.workspace_id')
    .whereRef('m.channel', '=', 'due.channel')
    .whereRef('m.ts', '=', 'due.ts')
    .returning(['m.tenantId', 'm.workspaceId', 'm.channel', 'm.ts', 'm.approvalId', 'm.wantedRevision', 'm.attempts']),
);
export type ClaimedMessage = Awaited<ReturnType<typeof CLAIM>>[number];

const DUE_WORKSPACES = statement<{ workspaceIds: readonly string[] }>()((db, { workspaceIds }) =>
  db
    .selectFrom(sql<{ id: string }>`unnest(${workspaceIds}::uuid[])`.as<'lane'>(sql`lane (id)`))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('chat_message as m')
          .whereRef('m.workspaceId', '=', 'lane.id')
          .where(IS_DUE)
          .select(sql.lit(1).as('one')),
      ),
    )
    .select('lane.id'),
);

/** Statements of the chat lanes, which work across tenants. @param db connections with the role of the system. */
export const createChatMessageStore = (db: Database) => ({
  claim: ({ workspaceId }: ChatLaneKey, limit: number): Promise<ClaimedMessage[]> => CLAIM(db, { workspaceId, limit }),

  /** Notes that a message shows its revision, or cannot any more (`error`), or is to be tried again in `retryInMs`. */
  async conclude(
    { tenantId, workspaceId, channel, ts, wantedRevision }: ClaimedMessage,
    { error = null, retryInMs }: { error?: string | null; retryInMs?: number },
  ): Promise<void> {
    await db
      .updateTable('chat_message')
      .set({
        error,
        leaseUntil: null,
        ...(retryInMs === undefined
          ? { shownRevision: wantedRevision }
          : { dueAt: sql<string>`now() + ${retryInMs}::int * interval '1 ms'` }),
      })
      .where('tenantId', '=', tenantId)
      .where('workspaceId', '=', workspaceId)
      .where('channel', '=', channel)
      .where('ts', '=', ts)
      .execute();
  },

  /** Releases all that a lost pump of the lane held. */
  async releaseAll({ workspaceId }: ChatLaneKey): Promise<void> {
    await db
      .updateTable('chat_message')
      .set({ leaseUntil: null })
      .where('workspaceId', '=', workspaceId)
      .where('leaseUntil', 'is not', null)
      .execute();
  },

  /** Milliseconds until the lane has a message to change; undefined when there is none. */
  async nextDueInMs({ workspaceId }: ChatLaneKey): Promise<number | undefined> {
    const row = await db
      .selectFrom('chat_message as m')
      .where('m.workspaceId', '=', workspaceId)
      .where(sql<boolean>`m.shown_revision < m.wanted_revision`)
      .select(untilDue('m').as('inMs'))
      .executeTakeFirst();
    return msUntilDue(row);
  },

  async dueWorkspaces(workspaceIds: readonly string[]): Promise<string[]> {
    return (await DUE_WORKSPACES(db, { workspaceIds })).map(({ id }) => id);
  },

  /** Lanes with messages that are overdue and that nobody holds. */
  overdue: (byMs: number, limit: number): Promise<ChatLaneKey[]> =>
    db
      .selectFrom('chat_message as m')
      .where(IS_DUE)
      .where('m.dueAt', '<', sql<string>`${NOW} - ${byMs}::int * interval '1 ms'`)
      .groupBy(['m.tenantId', 'm.workspaceId'])
      .limit(limit)
      .select(['m.tenantId', tenantSlugOf('m.tenantId'), 'm.workspaceId'])
      .execute(),
});
