import { sql } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import { msUntilDue, untilDue } from '../../kernel/data/leases.ts';
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
/** And held by nobody. */
const IS_DUE = sql<boolean>`a.status = 'pending' and a.due_at <= now() and (a.lease_until is null or a.lease_until <= now())`;

const CLAIM = statement<{ workspaceId: string; limit: number }>()((db, { workspaceId, limit }) =>
  db
    .with('due', (inner) =>
      inner
        .selectFrom('chat_action as a')
        .where('a.workspaceId', '=', workspaceId)
        .where(IS_DUE)
        .orderBy('a.dueAt')
        .limit(limit)
        .forUpdate()
        .skipLocked()
        .select(['a.tenantId', 'a.id']),
    )
    .updateTable('chat_action as a')
    .from('due')
    .set((eb) => ({
      attempts: eb('a.attempts', '+', sql.lit(1)),
      leaseUntil: sql<string>`now() + ${sql.lit(LEASE_MS)} * interval '1 ms'`,
    }))
    .whereRef('a.tenantId', '=', 'due.tenantId')
    .whereRef('a.id', '=', 'due.id')
    .returning(['a.id', 'a.tenantId', 'a.content', 'a.responseUrl', 'a.attempts', 'a.createdAt']),
);
export type ClaimedAction = Awaited<ReturnType<typeof CLAIM>>[number];

const DUE_WORKSPACES = statement<{ workspaceIds: readonly string[] }>()((db, { workspaceIds }) =>
  db
    .selectFrom(sql<{ id: string }>`unnest(${workspaceIds}::uuid[])`.as<'lane'>(sql`lane (id)`))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('chat_action as a')
          .whereRef('a.workspaceId', '=', 'lane.id')
          .where(IS_DUE)
          .select(sql.lit(1).as('one')),
      ),
    )
    .select('lane.id'),
);

/** Statements of the chat lanes, which work across tenants. @param db connections with the role of the system. */
export const createChatActionStore = (db: Database) => ({
  claim: ({ workspaceId }: ChatLaneKey, limit: number): Promise<ClaimedAction[]> => CLAIM(db, { workspaceId, limit }),

  /** Notes how an attempt ended: done, failed for good (`error`), or to be tried again in `retryInMs`. */
  async conclude(
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
  },

  /** Releases all that a lost pump of the lane held. */
  async releaseAll({ workspaceId }: ChatLaneKey): Promise<void> {
    await db
      .updateTable('chat_action')
      .set({ leaseUntil: null })
      .where('workspaceId', '=', workspaceId)
      .where('status', '=', 'pending')
      .where('leaseUntil', 'is not', null)
      .execute();
  },

  /** Milliseconds until the lane has work again; undefined when nothing is pending. */
  async nextDueInMs({ workspaceId }: ChatLaneKey): Promise<number | undefined> {
    const row = await db
      .selectFrom('chat_action as a')
      .where('a.workspaceId', '=', workspaceId)
      .where('a.status', '=', 'pending')
      .select(untilDue('a').as('inMs'))
      .executeTakeFirst();
    return msUntilDue(row);
  },

  /** The ones of some workspaces whose lanes have something due which nobody holds. */
  async dueWorkspaces(workspaceIds: readonly string[]): Promise<string[]> {
    return (await DUE_WORKSPACES(db, { workspaceIds })).map(({ id }) => id);
  },

  /** Lanes with actions that are overdue and that nobody holds: their signal was lost. */
  overdue: (byMs: number, limit: number): Promise<ChatLaneKey[]> =>
    db
      .selectFrom('chat_action as a')
      .where(IS_DUE)
      .where('a.dueAt', '<', sql<string>`now() - ${byMs}::int * interval '1 ms'`)
      .groupBy(['a.tenantId', 'a.workspaceId'])
      .limit(limit)
      .select(['a.tenantId', tenantSlugOf('a.tenantId'), 'a.workspaceId'])
      .execute(),
});
export type ChatActionStore = ReturnType<typeof createChatActionStore>;
