import { SESSIONS } from '../../../domain/review/browser-sessions/session-announcements.ts';
import { recordingHasExpired } from '../../../domain/review/browser-sessions/session-progress.mutations.ts';
import {
  agedRecordings,
  projectsWithHostedSessions,
  removeSilentHosts,
  stalledSessions,
} from '../../../domain/review/browser-sessions/session-sweeps.queries.ts';
import { hasEnded } from '../../../domain/review/browser-sessions/session-rules.ts';
import { findSession } from '../../../domain/review/browser-sessions/sessions.queries.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import {
  browserSessionContract,
  sessionChangedSignal,
} from '../../../workflows/review/browser-sessions/browser-session.contract.ts';
import type { Deps } from '../../deps.ts';
import { defineChore, defineSweep } from '../../kernel/system/define-sweep.ts';

const FIVE_MINUTES_MS = 300_000;
const CALL_MS = 30_000;
/** A session that was made so long ago, and whose workflow has not seen it, was not launched. */
const UNSEEN_SECONDS = 30;

/** Starts the workflows of sessions that were not launched, missed what was due, or were lost by the engine. */
export const browserSessionsSweep = (unseenSeconds = UNSEEN_SECONDS) =>
  defineSweep({
    name: 'browser-sessions',
    due: ({ system }, limit) => stalledSessions(system, unseenSeconds, limit),
    key: ({ sessionId }) => sessionId,
    async handle({ launch }, { isLive, ...session }) {
      const isWatched = isLive && (await launch.stateOf(browserSessionContract, session)) === 'running';
      await launch.signalWithStart(browserSessionContract, session, sessionChangedSignal);
      return isWatched ? 0 : 1;
    },
  });

/** Ends hosted browsers that bear our mark and have no session that is provisioning or live. */
export const strayBrowsersSweep = defineSweep({
  name: 'stray-browsers',
  everyMs: FIVE_MINUTES_MS,
  isRoutine: true,
  due: ({ system }, limit) => projectsWithHostedSessions(system, limit),
  key: ({ projectId }) => projectId,
  handle: (deps, { projectId, ...tenant }) => endStrays(deps, tenant, projectId),
});

async function endStrays(deps: Deps, tenant: TenantKey, projectId: string): Promise<number> {
  const provider = deps.browsers.find('browserbase');
  if (!provider) return 0;
  const reads = deps.reads.as(systemActor(tenant, SESSIONS));
  const running = await provider.marked({ tenantId: tenant.tenantId, projectId }, AbortSignal.timeout(CALL_MS));
  // Without the credentials nothing can be ended; an integration that comes back is found again.
  if (!running.isOk) return 0;
  let ended = 0;
  for (const ref of running.value) {
    const session = await findSession(reads, ref.sessionId);
    if (session && session.removedAt === null && !hasEnded(session.status)) continue;
    const released = await provider.release(ref, AbortSignal.timeout(CALL_MS));
    if (!released.isOk && released.kind !== 'not_found') throw new Error(`not released: ${released.message}`);
    ended++;
  }
  return ended;
}

/** Removes recordings that have been kept for `BROWSER_RECORDING_DAYS`. */
export const agedRecordingsSweep = defineSweep({
  name: 'browser-recordings',
  everyMs: FIVE_MINUTES_MS,
  isRoutine: true,
  due: ({ system, browsers }, limit) => agedRecordings(system, browsers.recordingDays, limit),
  key: ({ sessionId }) => sessionId,
  async handle(deps, { sessionId, ...tenant }) {
    const actor = systemActor(tenant, SESSIONS);
    const session = await findSession(deps.reads.as(actor), sessionId);
    if (!session) return 0;
    const { projectId, providerSessionId } = session;
    const ref = { sessionId, tenantId: tenant.tenantId, projectId, providerSessionId };
    const replays = deps.browsers.findReplays(session.provider);
    const removed = await replays?.removeRecording(ref, AbortSignal.timeout(CALL_MS));
    // What the provider no longer lets us remove, it removes itself.
    if (removed && !removed.isOk && removed.kind !== 'not_found' && removed.kind !== 'auth_failed')
      throw new Error(`not removed: ${removed.message}`);
    await deps.actingAs(actor)((tx) => recordingHasExpired(tx, sessionId));
    return 1;
  },
});

/** Forgets browser hosts that have long been gone. */
export const silentHostsChore = defineChore({ name: 'browser-hosts', run: ({ system }) => removeSilentHosts(system) });
