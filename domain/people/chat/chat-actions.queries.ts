import { sql } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import { dueRows } from '../../kernel/data/due-rows.queries.ts';
import { statement } from '../../kernel/data/statement.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { TenantKey } from '../../kernel/shared/actor.ts';
import { newId } from '../../kernel/shared/ids.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { ChatActionContent } from './inbound-rules.ts';

interface ChatSender {
  tenantId: string;
  workspaceId: string;
  teamId: string;
  signingSecret: string;
  isActive: boolean;
}

const WORKSPACES_OF = statement<{ key: string }>()((db, { key }) =>
  db
    .selectFrom(sql<ChatSender>`chat_workspaces_of(${key})`.as('w'))
    .select(['w.tenantId', tenantSlugOf('w.tenantId'), 'w.workspaceId', 'w.teamId', 'w.signingSecret', 'w.isActive']),
);

/** Finds the workspaces of the tenant that a key names, with their encrypted signing secrets. */
export type FindChatSenders = (key: string) => ReturnType<typeof WORKSPACES_OF>;

/** @param db connections with the role of the application, in no tenant: the one function shows nothing else. */
export const createFindChatSenders =
  (db: Database): FindChatSenders =>
  (key) =>
    WORKSPACES_OF(db, { key });

export interface NewChatAction {
  workspaceId: string;
  signature: string;
  eventId: string | null;
  responseUrl: string | null;
  content: ChatActionContent;
}

/** Stores an action; `replayed` when a request with this signature came before, `known` when its event did. */
export async function insertChatAction(
  { db, tenantId }: Pick<Tx, 'db' | 'tenantId'>,
  { content, ...action }: NewChatAction,
): Promise<'added' | 'known' | 'replayed'> {
  const added = await db
    .insertInto('chat_action')
    .values({ ...action, tenantId, id: newId(), content: json(content) })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (added) return 'added';
  const same = await db
    .selectFrom('chat_action')
    .where('tenantId', '=', tenantId)
    .where('workspaceId', '=', action.workspaceId)
    .where('signature', '=', action.signature)
    .select('id')
    .executeTakeFirst();
  return same ? 'replayed' : 'known';
}

/** The one queue of what happens in a workspace. */
export interface ChatLaneKey extends TenantKey {
  workspaceId: string;
}

/** Longer than everything that an action asks of the platform. */
const LEASE_MS = 60_000;
export interface ClaimedAction {
  id: string;
  tenantId: string;
  content: ChatActionContent;
  responseUrl: string | null;
  attempts: number;
  createdAt: string;
}

const ACTIONS = dueRows<ClaimedAction>({
  table: 'chat_action',
  key: ['tenantId', 'id'],
  lane: 'workspaceId',
  isPending: sql`r.status = 'pending'`,
  claim: {
    counter: 'attempts',
    lease: sql`${sql.lit(LEASE_MS)} * interval '1 ms'`,
    returning: sql`r.id, r.tenant_id as "tenantId", r.content, r.response_url as "responseUrl", r.attempts,
      r.created_at as "createdAt"`,
  },
});

/** Statements of the chat lanes, which work across tenants. @param db connections with the role of the system. */
export const createChatActionStore = (db: Database) => ({
  claim: ({ workspaceId }: ChatLaneKey, limit: number) => ACTIONS.claimDue(db, workspaceId, limit),
  releaseAll: ({ workspaceId }: ChatLaneKey) => ACTIONS.releaseAll(db, workspaceId),
  nextDueInMs: ({ workspaceId }: ChatLaneKey) => ACTIONS.nextDueInMs(db, workspaceId),
  dueWorkspaces: (workspaceIds: readonly string[]) => ACTIONS.dueLanes(db, workspaceIds),

  /** Notes how an attempt ended: done, failed for good (`error`), or to be tried again in `retryInMs`. */
  conclude: (claimed: Pick<ClaimedAction, 'tenantId' | 'id'>, outcome: { error?: string; retryInMs?: number }) =>
    conclude(db, claimed, outcome),

  /** Lanes with actions that are overdue and that nobody holds: their signal was lost. */
  overdue: (byMs: number, limit: number): Promise<ChatLaneKey[]> =>
    db
      .selectFrom('chat_action as r')
      .where(ACTIONS.isDue)
      .where('r.dueAt', '<', sql<string>`now() - ${byMs}::int * interval '1 ms'`)
      .groupBy(['r.tenantId', 'r.workspaceId'])
      .limit(limit)
      .select(['r.tenantId', tenantSlugOf('r.tenantId'), 'r.workspaceId'])
      .execute(),
});
export type ChatActionStore = ReturnType<typeof createChatActionStore>;

async function conclude(
  db: Database,
  { tenantId, id }: Pick<ClaimedAction, 'tenantId' | 'id'>,
  outcome: { error?: string; retryInMs?: number },
): Promise<void> {
  const { error = null, retryInMs } = outcome;
  await db
    .updateTable('chat_action')
    .set(
      retryInMs === undefined
        ? {
            status: error === null ? 'done' : 'failed',
            error,
            responseUrl: null,
            leaseUntil: null,
            completedAt: sql<string>`now()`,
          }
        : { error, leaseUntil: null, dueAt: sql<string>`now() + ${retryInMs}::int * interval '1 ms'` },
    )
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .execute();
}
