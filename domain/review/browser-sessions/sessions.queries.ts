import { sql, type SqlBool } from 'kysely';
import { isOneOf } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { ReadDatabase } from '../../kernel/data/tables.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { CAP_MINUTES, OPEN_STATUSES, type SessionStatus } from './session-rules.ts';

const COLUMNS = [
  's.id',
  's.projectId',
  'p.identifier as repositoryIdentifier',
  's.prNumber',
  's.environmentId',
  's.assignmentId',
  's.orgUsername',
  's.provider',
  's.status',
  's.statusReason',
  's.statusDetail',
  's.isolation',
  's.providerSessionId',
  's.liveViewUrl',
  's.hostId',
  's.minutes',
  's.startPath',
  's.viewport',
  's.allowedHosts',
  's.isRecorded',
  's.expiresAt',
  's.recordingState',
  's.recordingPages',
  's.recordingBytes',
  's.recordingReason',
  's.flowRunId',
  's.createdBy',
  's.createdAt',
  's.liveAt',
  's.endedAt',
  's.releasedAt',
  's.removedAt',
  'e.name as environmentName',
  'h.queue as hostQueue',
  'h.name as hostName',
] as const;

const sessions = ({ db, tenantId }: { db: ReadDatabase; tenantId: string }) =>
  db
    .selectFrom('browser_session as s')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 's.tenantId').onRef('p.id', '=', 's.projectId'))
    .leftJoin('environment as e', (join) =>
      join.onRef('e.tenantId', '=', 's.tenantId').onRef('e.id', '=', 's.environmentId'),
    )
    .leftJoin('browser_host as h', 'h.id', 's.hostId')
    .where('s.tenantId', '=', tenantId);

/** A session with what is shown of it, and what its workflow needs to know. */
export type SessionRow = Awaited<ReturnType<typeof rowOf>>;
const rowOf = (reads: Reads, id: string) =>
  sessions(reads).where('s.id', '=', id).select(COLUMNS).executeTakeFirstOrThrow();

/** A session; includes one that was deleted while something of it is left to be removed. */
export const findSession = (reads: Reads, id: string): Promise<SessionRow | undefined> =>
  sessions(reads).where('s.id', '=', id).select(COLUMNS).executeTakeFirst();

/** Throws `not_found`, also for one that was deleted. */
export async function sessionById(reads: Reads, id: string): Promise<SessionRow> {
  const session = await findSession(reads, id);
  if (!session || session.removedAt !== null) throw notFound('The browser session');
  return session;
}

/** A session that nobody else changes until this transaction ends; undefined when it is gone for good. */
export async function lockedSession(tx: Tx, id: string): Promise<SessionRow | undefined> {
  const locked = await tx.db
    .selectFrom('browser_session')
    .where('tenantId', '=', tx.tenantId)
    .where('id', '=', id)
    .forUpdate()
    .select('id')
    .executeTakeFirst();
  return locked && findSession(tx, id);
}

/** How many sessions of the tenant are provisioning or live on hosts of this installation. */
export async function countOpenLocal({ db, tenantId }: Reads): Promise<number> {
  const { count } = await db
    .selectFrom('browser_session as s')
    .where('s.tenantId', '=', tenantId)
    .where('s.provider', '=', 'local')
    .where((eb) => isOneOf(eb, 's.status', OPEN_STATUSES))
    .select(sql<number>`count(*)::int`.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** The session of a pull request that is provisioning or live: there is one at most. */
export const openSessionOfPr = (
  reads: Reads,
  { projectId, prNumber }: { projectId: string; prNumber: number },
): Promise<SessionRow | undefined> =>
  sessions(reads)
    .where('s.projectId', '=', projectId)
    .where('s.prNumber', '=', prNumber)
    .where('s.removedAt', 'is', null)
    .where((eb) => isOneOf(eb, 's.status', OPEN_STATUSES))
    .select(COLUMNS)
    .executeTakeFirst();

/** The session at the org of an assignment that is provisioning or live: there is one at most. */
export const openSessionOfAssignment = (reads: Reads, assignmentId: string): Promise<SessionRow | undefined> =>
  sessions(reads)
    .where('s.assignmentId', '=', assignmentId)
    .where((eb) => isOneOf(eb, 's.status', OPEN_STATUSES))
    .select(COLUMNS)
    .executeTakeFirst();

/** The session that a flow run asked for, or executes. */
export const sessionOfRun = (reads: Reads, runId: string): Promise<SessionRow | undefined> =>
  sessions(reads)
    .where('s.flowRunId', '=', runId)
    .orderBy('s.createdAt', 'desc')
    .limit(sql.lit(1))
    .select(COLUMNS)
    .executeTakeFirst();

/**
 * Sessions of a project of which a browser may run or a recording is stored, those that nobody has deleted yet first.
 * A browser that nothing releases ends by itself at the cap.
 */
export const sessionsThatHold = ({ db, tenantId }: Reads, projectId: string, limit: number) =>
  db
    .selectFrom('browser_session as s')
    .where('s.tenantId', '=', tenantId)
    .where('s.projectId', '=', projectId)
    .where(
      sql<SqlBool>`(s.released_at is null and s.created_at > now() - make_interval(mins => ${CAP_MINUTES}::int)
        or exists (select from browser_replay_page p where p.tenant_id = s.tenant_id and p.session_id = s.id))`,
    )
    .orderBy(sql`s.removed_at is not null`)
    .orderBy('s.createdAt')
    .limit(sql.lit(limit))
    .select(['s.id', 's.removedAt'])
    .execute();

export interface SessionFilter {
  projectId?: string | undefined;
  prNumber?: number | undefined;
  environmentId?: string | undefined;
  status?: readonly SessionStatus[] | undefined;
}

/** A page of sessions, the newest first. */
export async function listSessions(
  reads: Reads,
  { projectId, prNumber, environmentId, status }: SessionFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: SessionRow[]; total: number }> {
  let matching = sessions(reads).where('s.removedAt', 'is', null);
  if (projectId !== undefined) matching = matching.where('s.projectId', '=', projectId);
  if (prNumber !== undefined) matching = matching.where('s.prNumber', '=', prNumber);
  if (environmentId !== undefined) matching = matching.where('s.environmentId', '=', environmentId);
  if (status?.length) matching = matching.where((eb) => isOneOf(eb, 's.status', status));
  const [items, { total }] = await Promise.all([
    matching
      .orderBy('s.createdAt', 'desc')
      .orderBy('s.id', 'desc')
      .limit(sql.lit(limit))
      .offset(sql.lit(offset))
      .select(COLUMNS)
      .execute(),
    matching.select(sql<number>`count(*)::int`.as('total')).executeTakeFirstOrThrow(),
  ]);
  return { items, total };
}

const TIMELINE_MAX = 100;

/** The newest events of a session, the newest first. */
export const timelineOf = ({ db, tenantId }: Reads, sessionId: string) =>
  db
    .selectFrom('browser_session_event')
    .where('tenantId', '=', tenantId)
    .where('sessionId', '=', sessionId)
    .orderBy('number', 'desc')
    .limit(sql.lit(TIMELINE_MAX))
    .select(['occurredAt as at', 'kind', 'summary', 'byEmail as by', 'data'])
    .execute();

/** Whether the timeline of a session has an entry of that kind. */
export async function isTold({ db, tenantId }: Reads, sessionId: string, kind: string): Promise<boolean> {
  const told = await db
    .selectFrom('browser_session_event')
    .where('tenantId', '=', tenantId)
    .where('sessionId', '=', sessionId)
    .where('kind', '=', kind)
    .select('number')
    .limit(sql.lit(1))
    .executeTakeFirst();
  return told !== undefined;
}

/** Whether an extension of a session was made. */
export async function hasExtension({ db, tenantId }: Reads, sessionId: string, extensionId: string): Promise<boolean> {
  const made = await db
    .selectFrom('browser_session_event')
    .where('tenantId', '=', tenantId)
    .where('sessionId', '=', sessionId)
    .where('kind', '=', 'extended')
    .where(sql`data ->> 'extensionId'`, '=', extensionId)
    .select('number')
    .limit(sql.lit(1))
    .executeTakeFirst();
  return made !== undefined;
}
