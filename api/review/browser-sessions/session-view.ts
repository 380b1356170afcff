import type { z } from 'zod';
import type { SessionRow } from '../../../domain/review/browser-sessions/sessions.queries.ts';
import type { BrowserSession } from './browser-sessions.schemas.ts';

/** Path of the page on which a session is watched. */
export const livePathOf = (sessionId: string): string => `/browser-sessions/${sessionId}/live`;

/** A session as returned to clients. */
export const sessionView = (publicUrl: string, session: SessionRow): z.input<typeof BrowserSession> => ({
  id: session.id,
  status: session.status,
  expires_at: session.expiresAt,
  providerSessionId: session.providerSessionId,
  liveViewUrl: session.provider === 'external' ? session.liveViewUrl : `${publicUrl}${livePathOf(session.id)}`,
  repositoryIdentifier: session.repositoryIdentifier,
  prNumber: session.prNumber,
  environmentId: session.environmentId,
  provider: session.provider,
  isolation: session.isolation,
  recording: {
    state: session.recordingState,
    pages: session.recordingPages,
    bytes: Number(session.recordingBytes),
    reason: session.recordingReason,
  },
  flowRunId: session.flowRunId,
  statusReason: session.statusReason,
  statusDetail: session.statusDetail,
  createdBy: session.createdBy.email,
  createdAt: session.createdAt,
  liveAt: session.liveAt,
  endedAt: session.endedAt,
});
