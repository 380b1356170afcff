import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { CompiledQuery, sql } from 'kysely';
import {
  appendEntries,
  type Appended,
  appending,
  appendParameters,
  type AuditFunction,
  type AuditNote,
  unchainedEntry,
} from './kernel/audit/append.queries.ts';
import type { UnchainedEntry } from './kernel/audit/audit-rules.ts';
import { type Change, keyOfChange } from './kernel/changes/change-rules.ts';
import type { Topic } from './kernel/changes/topic-rules.ts';
import type { HookHandlers, Hooks, Said, Told } from './kernel/hooks.ts';
import type { Actor, TenantKey } from './kernel/shared/actor.ts';
import type { Signals, SignalsByKind } from './kernel/signals.port.ts';
import { COMMIT_WITH_NEXT } from './kernel/data/dialect.ts';
import { fenceVariables, type Reads } from './kernel/data/fenced-reads.ts';
import { statement } from './kernel/data/statement.ts';
import type { Database, Tables } from './kernel/data/tables.ts';
import { changeOf } from './events/webhooks/event-topics.ts';
import {
  type Announcement,
  type Enqueued,
  enqueueEvents,
  enqueueParameters,
  enqueuing,
  type TracedAnnouncement,
} from './events/webhooks/enqueue.queries.ts';

/** One transaction in one tenant, as a handler or an activity sees it. */
export interface Tx {
  actor: Actor;
  tenantId: string;
  /** For single entities: load, change, flush. */
  em: EntityManager;
  /** For lists, batches, upserts and sets, in the same transaction. It does not see what the entity manager has not flushed. */
  db: Database;
  now: Date;
  /** W3C `traceparent` of what caused the work, for what it queues. */
  traceparent: string | undefined;
  /** Queues an event to its subscribers; all events of the transaction are written together, just before the audit entries. */
  announce(announcement: Announcement): void;
  /** Measures what nobody is told of; events that are announced are measured by themselves. */
  measure(measured: Announcement): void;
  /** Says that the transaction does what its request asks for, where it neither announces nor audits anything. */
  noteDone(): void;
  /** Adds an entry to the tenant's audit trail; written as the last statement before the commit. */
  audit(note: AuditNote): void;
  /**
   * Names what changed, for streams of changes, where it is neither audited nor announced.
   * @param repositoryIdentifier the repository that it belongs to; null: none.
   */
  touch(topic: Topic, id: string, repositoryIdentifier?: string | null): void;
  /** Signals the workflow of what changed, once for each, when the transaction is committed. */
  after<Kind extends keyof Signals>(kind: Kind, changed: Signals[Kind]): void;
  /** Has other areas do what they do when this happens, one after the other; answers what each says. */
  tell<Name extends keyof Hooks>(name: Name, ...told: Told<Name>): Promise<Said<Name>[]>;
  /** The same transaction for what somebody else of the tenant caused: events, audit entries and rows are in their name. */
  inNameOf(cause: Cause): Tx;
}

/** Who caused a change, and by what. */
export type Cause = Pick<WorkContext, 'actor' | 'requestId' | 'traceparent'>;

/** What follows a commit. */
export interface CommitSignals extends SignalsByKind {
  /** What was announced and measured. Returns at once and never throws. */
  happened: (tenant: TenantKey, events: readonly Announcement[]) => void;
  /** What was audited, announced and touched. Returns at once and never throws. */
  changed: (tenant: Pick<TenantKey, 'tenantId'>, changes: readonly Change[]) => void;
}

/** Runs `work` in one transaction: all of it is committed, or nothing. It never spans an external call. */
export type UnitOfWork = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

export interface WorkContext {
  actor: Actor;
  requestId?: string | undefined;
  traceparent?: string | undefined;
  now?: () => Date;
  signals?: Partial<CommitSignals>;
  /** What the connection may extend the audit trail by. */
  auditBy?: AuditFunction;
  /** What areas do when something happens in others. */
  hooks?: HookHandlers;
  /** Runs in each transaction that changes something, just before its events and audit entries are written. */
  beforeRecord?: (tx: Reads & { db: Database }) => Promise<void>;
}

/**
 * A unit of work fenced by row-level security to the actor's tenant and, for a scoped application token, to its
 * projects: the variables that the policies read are set as the transaction begins.
 */
export const unitOfWork =
  (
    orm: MikroORM,
    {
      actor,
      requestId,
      traceparent,
      now = () => new Date(),
      signals,
      hooks,
      auditBy = 'audit_append',
      beforeRecord,
    }: WorkContext,
  ): UnitOfWork =>
  async (work) => {
    const em = orm.em.fork({ disableContextResolution: true });
    em.setSessionContext({ variables: fenceVariables(actor) });
    const marked = new Map<keyof Signals, Map<string, unknown>>();
    let happened: readonly Announcement[] = [];
    let named: readonly Change[] = [];
    const result = await em.transactional(async (inner) => {
      const db = inner.getKysely<Tables>();
      const noted: Noted = { announced: [], entries: [], measured: [], touched: [], marked, isDone: false };
      const tx = txOf({ em: inner, db, tenantId: actor.tenantId, now: now(), hooks }, noted, {
        actor,
        requestId,
        traceparent,
      });
      const value = await work(tx);
      const { announced, entries, measured, isDone } = noted;
      if (isDone || announced.length + entries.length > 0) {
        await inner.flush();
        await beforeRecord?.(tx);
      }
      if (announced.length > 0 && actor.projectIds) await openToSubscribers(db);
      for (const webhookId of await record(db, actor.tenantId, { announced, entries, auditBy })) {
        tx.after('webhook', webhookId);
        tx.touch('webhook_delivery', webhookId);
      }
      happened = [...announced, ...measured];
      named = changesOf(noted);
      return value;
    });
    for (const [kind, changed] of marked)
      (signals?.[kind] as SignalsByKind[typeof kind] & ((tenant: TenantKey, of: readonly unknown[]) => void))?.(actor, [
        ...changed.values(),
      ]);
    if (happened.length > 0) signals?.happened?.(actor, happened);
    if (named.length > 0) signals?.changed?.(actor, named);
    return result;
  };

/** What a transaction has to write and to do at its end. */
interface Noted {
  announced: TracedAnnouncement[];
  measured: Announcement[];
  entries: UnchainedEntry[];
  touched: Change[];
  /** For signals after the commit: what changed, each once. */
  marked: Map<keyof Signals, Map<string, unknown>>;
  isDone: boolean;
}

const txOf = (
  { hooks, ...shared }: Pick<Tx, 'em' | 'db' | 'tenantId' | 'now'> & { hooks: HookHandlers | undefined },
  noted: Noted,
  cause: Cause,
): Tx => ({
  ...shared,
  actor: cause.actor,
  traceparent: cause.traceparent,
  announce: (announcement) => {
    noted.announced.push({ ...announcement, traceparent: cause.traceparent });
  },
  measure: (one) => {
    noted.measured.push(one);
  },
  noteDone: () => {
    noted.isDone = true;
  },
  audit: (note) => {
    noted.entries.push(unchainedEntry(note, cause.actor, cause.requestId ?? null, shared.now));
  },
  touch: (topic, id, repositoryIdentifier = null) => {
    noted.touched.push({ topic, id, repositoryIdentifier });
  },
  after: (kind, changed) => {
    noted.marked.set(kind, (noted.marked.get(kind) ?? new Map()).set(JSON.stringify(changed), changed));
  },
  async tell<Name extends keyof Hooks>(name: Name, ...told: Told<Name>) {
    if (!hooks) throw new Error(`This unit of work was made without hooks, and ${name} happens in it`);
    const handlers: HookHandlers[Name] = hooks[name];
    const said: Said<Name>[] = [];
    for (const handler of handlers ?? []) said.push(await handler(this, ...told));
    return said;
  },
  inNameOf: (other) => txOf({ hooks, ...shared }, noted, other),
});

/** What a transaction changed. An event that says less than what is named anyway of the same thing is left out. */
function changesOf({ entries, touched, announced }: Noted): Change[] {
  const named: Change[] = [
    ...touched,
    ...entries.map(({ entityType, entityId, repositoryIdentifier }) => ({
      topic: entityType as Topic,
      id: entityId,
      repositoryIdentifier,
    })),
  ];
  const known = new Set(named.flatMap(sayingLess).map(keyOfChange));
  return [
    ...named,
    ...announced.flatMap((event) => changeOf(event) ?? []).filter((change) => !known.has(keyOfChange(change))),
  ];
}

/** A change, and the same without its id or its repository, which events may lack. */
const sayingLess = (change: Change): Change[] =>
  [change, { ...change, id: null }].flatMap((one) => [one, { ...one, repositoryIdentifier: null }]);

const ENQUEUE_AND_APPEND = statement<Enqueued & Appended, AuditFunction>()((db, given, by) =>
  db
    .with('enqueued', (inner) => enqueuing(inner, given))
    .selectNoFrom([sql<string[]>`array(select webhook_id from enqueued)`.as('webhookIds'), appending(given, by)]),
);

/** Webhooks of the whole tenant subscribe to what a limited application token does, though it does not reach them. */
const openToSubscribers = (db: Database) =>
  db.selectNoFrom(sql`set_config('app.project_ids', '', true)`.as('unlimited')).execute();

/** The trail of a tenant is locked from here to the commit. */
const LAST = CompiledQuery.raw(COMMIT_WITH_NEXT);

/** Writes the events and then the audit entries of a transaction; answers the webhooks that have something new to deliver. */
async function record(
  db: Database,
  tenantId: string,
  recorded: { announced: readonly TracedAnnouncement[]; entries: readonly UnchainedEntry[]; auditBy: AuditFunction },
): Promise<readonly string[]> {
  const { announced, entries, auditBy } = recorded;
  if (entries.length + announced.length === 0) return [];
  await db.executeQuery(LAST);
  if (entries.length === 0) return enqueueEvents(db, tenantId, announced);
  if (announced.length === 0) {
    await appendEntries(db, tenantId, entries, auditBy);
    return [];
  }
  const parameters = { ...enqueueParameters(tenantId, announced), ...appendParameters(tenantId, entries) };
  const [enqueued] = await ENQUEUE_AND_APPEND(db, parameters, auditBy);
  return enqueued?.webhookIds ?? [];
}
