import { sql } from 'kysely';
import { dueRows } from '../../kernel/data/due-rows.queries.ts';
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

export interface ClaimedMessage {
  tenantId: string;
  workspaceId: string;
  channel: string;
  ts: string;
  approvalId: string;
  wantedRevision: number;
  attempts: number;
}

const MESSAGES = dueRows<ClaimedMessage>({
  table: 'chat_message',
  key: ['tenantId', 'workspaceId', 'channel', 'ts'],
  lane: 'workspaceId',
  isPending: sql`r.shown_revision < r.wanted_revision`,
  claim: {
    counter: 'attempts',
    lease: sql`${sql.lit(LEASE_MS)} * interval '1 ms'`,
    returning: sql`r.tenant_id as "tenantId", r.workspace_id as "workspaceId", r.channel, r.ts,
      r.approval_id as "approvalId", r.wanted_revision as "wantedRevision", r.attempts`,
  },
});

/** Statements of the chat lanes, which work across tenants. @param db connections with the role of the system. */
export const createChatMessageStore = (db: Database) => ({
  claim: ({ workspaceId }: ChatLaneKey, limit: number) => MESSAGES.claimDue(db, workspaceId, limit),
  releaseAll: ({ workspaceId }: ChatLaneKey) => MESSAGES.releaseAll(db, workspaceId),
  nextDueInMs: ({ workspaceId }: ChatLaneKey) => MESSAGES.nextDueInMs(db, workspaceId),
  dueWorkspaces: (workspaceIds: readonly string[]) => MESSAGES.dueLanes(db, workspaceIds),

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

  /** Lanes with messages that are overdue and that nobody holds. */
  overdue: (byMs: number, limit: number): Promise<ChatLaneKey[]> =>
    db
      .selectFrom('chat_message as r')
      .where(MESSAGES.isDue)
      .where('r.dueAt', '<', sql<string>`now() - ${byMs}::int * interval '1 ms'`)
      .groupBy(['r.tenantId', 'r.workspaceId'])
      .limit(limit)
      .select(['r.tenantId', tenantSlugOf('r.tenantId'), 'r.workspaceId'])
      .execute(),
});
