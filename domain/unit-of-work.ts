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
import type { HookHandlers, Hooks } from './kernel/hooks.port.ts';
import type { Actor, TenantKey } from './kernel/shared/actor.ts';
import { COMMIT_WITH_NEXT } from './kernel/data/dialect.ts';
import { fenceVariables, type Reads } from './kernel/data/fenced-reads.ts';
import { statement } from './kernel/data/statement.ts';
import type { RunWorkflowKey } from './kernel/shared/workflow-path-rules.ts';
import type { Database, Tables } from './kernel/data/tables.ts';
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
  /** Marks a webhook that has something new to deliver; its lane is signalled when the transaction is committed. */
  signalLane(webhookId: string): void;
  /** Marks a chat workspace with messages to change; its lane is signalled when the transaction is committed. */
  signalChat(workspaceId: string): void;
  /** Marks an approval that something other than a decision settled; its workflow checks it again after the commit. */
  signalApproval(approval: SettledApproval): void;
  /** Marks a deployment that was stored; it is applied to its candidate after the commit. */
  signalDeployment(deployment: RecordedDeployment): void;
  /** Marks a run that waits for what was changed; its workflow looks again after the commit. */
  signalRun(run: WaitingRun): void;
  /** Marks a pool whose orgs or settings changed; its workflow looks again after the commit. */
  signalReviewPool(pool: ReviewPoolKey): void;
  /** Marks an assignment that was made or changed; its workflow looks again after the commit. */
  signalReviewAssignment(assignment: ReviewAssignmentKey): void;
  /** Marks a browser session that was made or changed; its workflow looks again after the commit. */
  signalBrowserSession(session: BrowserSessionKey): void;
  /** Marks a request whose work item is to show something new; that is written after the commit. */
  signalReport(requestId: string): void;
  /** What other areas do when this happens: to be called one after the other. */
  hooked<Name extends keyof Hooks>(name: Name): readonly Hooks[Name][];
  /** The same transaction for what somebody else of the tenant caused: events, audit entries and rows are in their name. */
  inNameOf(cause: Cause): Tx;
}

/** Who caused a change, and by what. */
export type Cause = Pick<WorkContext, 'actor' | 'requestId' | 'traceparent'>;

/** What the id of the workflow of a run is made of, in its tenant. */
export type WaitingRun = RunWorkflowKey;

/** What the workflow of a pool of review orgs is named by, in its tenant. */
export interface ReviewPoolKey {
  poolId: string;
  poolTag: string;
  repositoryIdentifier: string;
}

/** What the workflow of an assignment of a review environment is named by, in its tenant. */
export interface ReviewAssignmentKey {
  assignmentId: string;
  repositoryIdentifier: string;
  /** What it is for: `pr 118`. */
  subject: string;
  /** The pool or environment. */
  target: string;
}

/** What the workflow of a browser session is named by, in its tenant. */
export interface BrowserSessionKey {
  sessionId: string;
  repositoryIdentifier: string;
  /** What it shows: `PR 12`, or the name of an environment. */
  subject: string;
}

export interface RecordedDeployment {
  deploymentId: string;
  projectId: string;
  repositoryIdentifier: string;
  domain: string;
}

export interface SettledApproval {
  approvalId: string;
  taskType: string;
  repositoryIdentifier: string | null;
}

/** Signals to workflows after a commit. Each returns at once and never throws; lost signals are recovered by the sweeper. */
export interface CommitSignals {
  lanes: (tenant: TenantKey, webhookIds: readonly string[]) => void;
  chats: (tenant: TenantKey, workspaceIds: readonly string[]) => void;
  approvals: (tenant: TenantKey, approvals: readonly SettledApproval[]) => void;
  deployments: (tenant: TenantKey, deployments: readonly RecordedDeployment[]) => void;
  runs: (tenant: TenantKey, runs: readonly WaitingRun[]) => void;
  reviewPools: (tenant: TenantKey, pools: readonly ReviewPoolKey[]) => void;
  reviewAssignments: (tenant: TenantKey, assignments: readonly ReviewAssignmentKey[]) => void;
  browserSessions: (tenant: TenantKey, sessions: readonly BrowserSessionKey[]) => void;
  reports: (tenant: TenantKey, requestIds: readonly string[]) => void;
  happened: (tenant: TenantKey, events: readonly Announcement[]) => void;
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
    const lanes = new Set<string>();
    const chats = new Set<string>();
    const approvals: SettledApproval[] = [];
    const deployments: RecordedDeployment[] = [];
    const runs: WaitingRun[] = [];
    const reviewPools = new Map<string, ReviewPoolKey>();
    const reviewAssignments = new Map<string, ReviewAssignmentKey>();
    const browserSessions = new Map<string, BrowserSessionKey>();
    const reports = new Set<string>();
    let happened: readonly Announcement[] = [];
    const result = await em.transactional(async (inner) => {
      const db = inner.getKysely<Tables>();
      const announced: TracedAnnouncement[] = [];
      const entries: UnchainedEntry[] = [];
      const measured: Announcement[] = [];
      let isDone = false;
      const startedAt = now();
      const inNameOf = (cause: Cause): Tx => ({
        actor: cause.actor,
        tenantId: actor.tenantId,
        em: inner,
        db,
        now: startedAt,
        traceparent: cause.traceparent,
        announce: (announcement) => {
          announced.push({ ...announcement, traceparent: cause.traceparent });
        },
        measure: (one) => {
          measured.push(one);
        },
        noteDone: () => {
          isDone = true;
        },
        audit: (note) => {
          entries.push(unchainedEntry(note, cause.actor, cause.requestId ?? null, startedAt));
        },
        signalLane: (webhookId) => {
          lanes.add(webhookId);
        },
        signalChat: (workspaceId) => {
          chats.add(workspaceId);
        },
        signalApproval: (approval) => {
          approvals.push(approval);
        },
        signalDeployment: (deployment) => {
          deployments.push(deployment);
        },
        signalRun: (run) => {
          runs.push(run);
        },
        signalReviewPool: (pool) => {
          reviewPools.set(pool.poolId, pool);
        },
        signalReviewAssignment: (assignment) => {
          reviewAssignments.set(assignment.assignmentId, assignment);
        },
        signalBrowserSession: (session) => {
          browserSessions.set(session.sessionId, session);
        },
        signalReport: (id) => {
          reports.add(id);
        },
        hooked(name) {
          if (!hooks) throw new Error(`This unit of work was made without hooks, and ${name} happens in it`);
          return hooks[name] ?? [];
        },
        inNameOf,
      });
      const tx = inNameOf({ actor, requestId, traceparent });
      const value = await work(tx);
      if (isDone || announced.length + entries.length > 0) {
        await inner.flush();
        await beforeRecord?.(tx);
      }
      if (announced.length > 0 && actor.projectIds) await openToSubscribers(db);
      for (const webhookId of await record(db, actor.tenantId, { announced, entries, auditBy })) lanes.add(webhookId);
      happened = [...announced, ...measured];
      return value;
    });
    if (lanes.size > 0) signals?.lanes?.(actor, [...lanes]);
    if (chats.size > 0) signals?.chats?.(actor, [...chats]);
    if (approvals.length > 0) signals?.approvals?.(actor, approvals);
    if (deployments.length > 0) signals?.deployments?.(actor, deployments);
    if (runs.length > 0) signals?.runs?.(actor, runs);
    if (reviewPools.size > 0) signals?.reviewPools?.(actor, [...reviewPools.values()]);
    if (reviewAssignments.size > 0) signals?.reviewAssignments?.(actor, [...reviewAssignments.values()]);
    if (browserSessions.size > 0) signals?.browserSessions?.(actor, [...browserSessions.values()]);
    if (reports.size > 0) signals?.reports?.(actor, [...reports]);
    if (happened.length > 0) signals?.happened?.(actor, happened);
    return result;
  };

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
