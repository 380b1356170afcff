import { json } from '../../kernel/data/columns.ts';
import type { NewRow } from '../../kernel/data/statement.ts';
import { sql } from 'kysely';
import type { Tx } from '../../unit-of-work.ts';
import type { Viewport } from './browser-provider.port.ts';
import type { Isolation } from '../../kernel/settings/isolation-rules.ts';
import type { RecordingState, SessionStatus, StatusReason } from './session-rules.ts';

type NewSession = Pick<
  NewRow<'browser_session'>,
  | 'id'
  | 'projectId'
  | 'prNumber'
  | 'environmentId'
  | 'assignmentId'
  | 'orgUsername'
  | 'provider'
  | 'minutes'
  | 'startPath'
  | 'isRecorded'
  | 'expiresAt'
  | 'flowRunId'
> & { viewport: Viewport; allowedHosts: readonly string[] };

export const insertSession = async (
  { db, tenantId, now }: Tx,
  { viewport, allowedHosts, ...session }: NewSession,
  createdBy: Tx['actor'],
): Promise<void> => {
  await db
    .insertInto('browser_session')
    .values({
      ...session,
      tenantId,
      viewport: json(viewport),
      allowedHosts: json([...allowedHosts]),
      createdBy: json(createdBy),
      createdAt: now,
      updatedAt: now,
    })
    .execute();
};

export interface SessionChange {
  status?: SessionStatus;
  statusReason?: StatusReason | null;
  statusDetail?: string | null;
  isolation?: Isolation | null;
  providerSessionId?: string;
  liveViewUrl?: string;
  hostId?: string | null;
  expiresAt?: Date;
  recordingState?: RecordingState;
  recordingPages?: number;
  recordingBytes?: string;
  recordingReason?: string | null;
  liveAt?: Date;
  endedAt?: Date;
  releasedAt?: Date;
  removedAt?: Date;
  seenAt?: Date;
}

/** Changes a session, of which the caller has the lock. */
export const changeSession = async ({ db, tenantId }: Tx, id: string, change: SessionChange): Promise<void> => {
  await db
    .updateTable('browser_session')
    .set({ ...change, updatedAt: sql<string>`now()` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();
};

/** Removes a session for good, with its timeline and what is known of its recording. */
export const deleteSession = async ({ db, tenantId }: Tx, id: string): Promise<void> => {
  await db.deleteFrom('browser_session').where('tenantId', '=', tenantId).where('id', '=', id).execute();
};

/** Forgets the pages of a recording that was removed. */
export const deleteReplayPages = async ({ db, tenantId }: Tx, sessionId: string): Promise<void> => {
  await db
    .deleteFrom('browser_replay_page')
    .where('tenantId', '=', tenantId)
    .where('sessionId', '=', sessionId)
    .execute();
};

export interface TimelineEntry {
  kind: string;
  summary: string;
  data?: Record<string, unknown>;
}

/** Adds to the timeline of a session, in the name of the actor. */
export const addToTimeline = async (
  { db, tenantId, actor, now }: Tx,
  { id: sessionId, projectId }: { id: string; projectId: string },
  { kind, summary, data = {} }: TimelineEntry,
): Promise<void> => {
  await db
    .insertInto('browser_session_event')
    .values({
      tenantId,
      sessionId,
      projectId,
      occurredAt: now,
      kind,
      summary,
      byEmail: actor.email,
      data: json(data),
    })
    .execute();
};
