import { hostById } from '../../../domain/review/browser-sessions/hosts/browser-hosts.queries.ts';
import { SESSIONS } from '../../../domain/review/browser-sessions/session-announcements.ts';
import {
  forgetSession,
  reevaluateSession,
  sessionHasEnded,
  sessionIsReleased,
  type SessionProgress,
} from '../../../domain/review/browser-sessions/session-progress.mutations.ts';
import {
  extendSession,
  patchSession,
  type SessionEnding,
  type SessionReport,
  stopSession,
} from '../../../domain/review/browser-sessions/sessions.mutations.ts';
import { findSession } from '../../../domain/review/browser-sessions/sessions.queries.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { ExtensionAsk, SessionAsk } from '../../../workflows/review/browser-sessions/browser-session.contract.ts';
import type { Deps } from '../../deps.ts';
import { type Refusal, refusableChanges } from '../../refusals.ts';

export interface SessionKey extends TenantKey {
  sessionId: string;
}

/** What the workflow of a browser session does to its row. */
export const createSessionStateActivities = ({ actingAs, reads }: Pick<Deps, 'actingAs' | 'reads'>) => {
  const changed = refusableChanges({ actingAs });
  const itself = (tenant: SessionKey) => actingAs(systemActor(tenant, SESSIONS));
  return {
    /** Does what is due for a session; null when it is gone. */
    reevaluateSession: (key: SessionKey): Promise<SessionProgress | null> =>
      itself(key)((tx) => reevaluateSession(tx, key.sessionId)),
    /** Extends a session in the name of who asked for it. */
    extendSession: (asked: SessionKey & ExtensionAsk): Promise<Refusal | null> =>
      changed(asked, (tx) => extendSession(tx, asked.sessionId, asked)),
    /** Stops a session in the name of who asked for it. */
    stopSession: (asked: SessionKey & SessionAsk): Promise<Refusal | null> =>
      changed(asked, (tx) => stopSession(tx, asked.sessionId)),
    /** Takes a report in the name of who sent it. */
    patchSession: (asked: SessionKey & SessionAsk & { report: SessionReport }): Promise<Refusal | null> =>
      changed(asked, (tx) => patchSession(tx, asked.sessionId, asked.report)),
    /** Ends a session as its provider, or the loss of it, says. */
    sessionHasEnded: ({ status, reason, detail = null, ...key }: SessionKey & SessionEnding): Promise<void> =>
      itself(key)((tx) => sessionHasEnded(tx, key.sessionId, { status, reason, detail })),
    /** Notes that nothing of a session runs any more. */
    sessionIsReleased: (key: SessionKey): Promise<void> => itself(key)((tx) => sessionIsReleased(tx, key.sessionId)),
    /** Whether the host that allocated a session has sent no heartbeat lately. */
    async hostIsGone(key: SessionKey): Promise<boolean> {
      const fenced = reads.as(systemActor(key, SESSIONS));
      const session = await findSession(fenced, key.sessionId);
      const host = session?.hostId == null ? undefined : await hostById(fenced, session.hostId);
      return host?.isAlive !== true;
    },
    /** Removes the row of a session that was deleted. */
    forgetSession: (key: SessionKey): Promise<void> => itself(key)((tx) => forgetSession(tx, key.sessionId)),
  };
};
export type SessionStateActivities = ReturnType<typeof createSessionStateActivities>;
