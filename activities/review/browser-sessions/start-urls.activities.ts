import { hostById } from '../../../domain/review/browser-sessions/hosts/browser-hosts.queries.ts';
import { StartRefused } from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import { sealStartUrl } from '../../../domain/review/browser-sessions/hosts/sealed-start-urls.ts';
import { SESSIONS } from '../../../domain/review/browser-sessions/session-announcements.ts';
import { hasEnded } from '../../../domain/review/browser-sessions/session-rules.ts';
import { findSession } from '../../../domain/review/browser-sessions/sessions.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { SealedStartUrl } from '../../../workflows/review/browser-sessions/browser-session.contract.ts';
import type { Deps } from '../../deps.ts';
import { startUrlOf } from './start-url.ts';
import type { SessionKey } from './session-state.activities.ts';

/** What workers do for browser hosts, which hold no credential of an org. */
export const createStartUrlActivities = (deps: Deps) => ({
  /** Opens the front door of a session's org for the host that allocates its browser: no other reads the answer. */
  async openStartUrl({ hostId, ...key }: SessionKey & { hostId: string }): Promise<SealedStartUrl> {
    const reads = deps.reads.as(systemActor(key, SESSIONS));
    const [session, host] = await Promise.all([findSession(reads, key.sessionId), hostById(reads, hostId)]);
    if (!session || hasEnded(session.status) || session.removedAt !== null) return { refused: 'The session has ended' };
    if (!host?.isAlive || host.startUrlKey === null) return { refused: 'The host of the browser is gone' };
    try {
      const url = await startUrlOf(deps, key, session);
      return { sealed: await sealStartUrl(url, host.startUrlKey, key.sessionId) };
    } catch (error) {
      if (error instanceof StartRefused) return { refused: error.message };
      throw error;
    }
  },
});
export type StartUrlActivities = ReturnType<typeof createStartUrlActivities>;
