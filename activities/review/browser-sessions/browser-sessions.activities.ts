import { ApplicationFailure, Context } from '@temporalio/activity';
import {
  type BrowserProvider,
  type BrowserProviderName,
  type BrowserReplays,
  type ProviderFailure,
  type SessionRef,
} from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import { hostById } from '../../../domain/review/browser-sessions/hosts/browser-hosts.queries.ts';
import {
  failureReason,
  isPassing,
  pauseMs,
  providerFailure,
} from '../../../domain/review/browser-sessions/provider-failure-rules.ts';
import {
  lookAgainMs,
  whyNoRecording,
} from '../../../domain/review/browser-sessions/recordings/recording-wait-rules.ts';
import { SESSIONS } from '../../../domain/review/browser-sessions/session-announcements.ts';
import {
  noteHost,
  recordingIsFinished,
  sessionIsLive,
} from '../../../domain/review/browser-sessions/session-progress.mutations.ts';
import {
  capOf,
  expiryOf,
  isLive,
  isProvisioning,
  type StatusReason,
} from '../../../domain/review/browser-sessions/session-rules.ts';
import { findSession, type SessionRow } from '../../../domain/review/browser-sessions/sessions.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import type { SessionKey } from './session-state.activities.ts';

/** Why a session ends, as its provider says. */
export interface SayingOfEnd {
  reason: StatusReason;
  /** For people. */
  detail: string | null;
}

/** The process that allocates local browsers; absent where hosted ones are asked for. */
export interface ThisHost {
  id: string;
  name: string;
  /** Whether it can allocate one more browser, after waiting a little for that. */
  hasPlace?: (sessionId: string) => Promise<boolean>;
}

export interface SessionProviders {
  find: (name: BrowserProviderName) => BrowserProvider | undefined;
  /** Finds what reads the replays of a provider, hosted providers included; undefined: there is nothing. */
  findReplays: (name: BrowserProviderName) => BrowserReplays | undefined;
  host?: ThisHost;
}

/** Where a session begins, a credential. Rejects with `StartRefused` where its org is not opened. */
type StartUrlOf = (key: SessionKey, session: SessionRow) => Promise<URL>;

const refOf = ({ tenantId, sessionId }: SessionKey, session: SessionRow): SessionRef => ({
  sessionId,
  tenantId,
  projectId: session.projectId,
  providerSessionId: session.providerSessionId,
});

/** What the workflow of a browser session asks of its provider; retrying each is safe. */
export const createBrowserSessionActivities = (
  deps: SessionDeps,
  providers: SessionProviders & { startUrlOf: StartUrlOf },
) => {
  const { sessionOf, providerOf } = sessionScope(deps, providers);

  return {
    /** Has a browser allocated and its row made live; answers why that is refused for good. */
    provisionSession: (key: SessionKey): Promise<SayingOfEnd | null> =>
      withHeartbeat((signal) => provision(deps, providers, key, signal)),

    /** Watches a live session until it ends at its provider; null: its row has another status. */
    holdSession: (key: SessionKey): Promise<SayingOfEnd | null> =>
      withHeartbeat(async (signal) => {
        let toldUntil = '';
        for (;;) {
          const session = await sessionOf(key);
          if (!session || !isLive(session.status) || session.removedAt !== null) return null;
          const provider = providerOf(session);
          const ref = refOf(key, session);
          const { expiresAt } = session;
          if (expiresAt !== toldUntil && (await provider.keepUntil(ref, new Date(expiresAt), signal)).isOk)
            toldUntil = expiresAt;
          const now = await provider.get(ref, signal);
          if (now.isOk && now.value.state === 'ended') return { reason: now.value.reason, detail: now.value.detail };
          if (!now.isOk && now.kind === 'not_found') return { reason: 'session_lost', detail: now.message };
          await Context.current().sleep(provider.pollMs);
        }
      }),

    /** Ends a session at its provider; ends itself when the provider says that nothing of it runs. */
    releaseSession: (key: SessionKey): Promise<void> =>
      withHeartbeat(async (signal) => {
        for (let attempt = 1; ; attempt++) {
          const session = await sessionOf(key);
          if (!session) return;
          const provider = providerOf(session);
          const released = await provider.release(refOf(key, session), signal);
          if (released.isOk ? released.value.isGone : released.kind === 'not_found') return;
          const asked = released.isOk ? undefined : released.retryAfterMs;
          await Context.current().sleep(asked ?? pauseMs(provider.pollMs, attempt));
        }
      }),

    /** Waits until what was recorded can be played, and notes it. */
    finishRecording: (key: SessionKey): Promise<void> =>
      withHeartbeat((signal) => finishRecording(deps, providers, key, signal)),

    /** Removes what was recorded of a session. */
    removeRecording: (key: SessionKey): Promise<void> =>
      withHeartbeat(async (signal) => {
        const session = await sessionOf(key);
        const replays = session && providers.findReplays(session.provider);
        const removed = session && (await replays?.removeRecording(refOf(key, session), signal));
        if (removed && !removed.isOk && removed.kind !== 'not_found') throw passing(removed, 1);
      }),
  };
};
export type ProvidedSessionActivities = ReturnType<typeof createBrowserSessionActivities>;

/** A failure after which the activity is tried again, when the provider wants to be asked. */
const passing = ({ kind, message, retryAfterMs }: ProviderFailure, attempt: number) =>
  ApplicationFailure.create({ type: kind, message, nextRetryDelay: retryAfterMs ?? pauseMs(500, attempt) });

type SessionDeps = Pick<Deps, 'actingAs' | 'reads'>;

function sessionScope(deps: SessionDeps, { find }: Pick<SessionProviders, 'find'>) {
  const unitOf = (key: SessionKey) => deps.actingAs(systemActor(key, SESSIONS));
  const sessionOf = (key: SessionKey) => findSession(deps.reads.as(systemActor(key, SESSIONS)), key.sessionId);
  const providerOf = ({ provider }: SessionRow): BrowserProvider => {
    const found = find(provider);
    if (!found) throw new Error(`this worker cannot call the browser provider ${provider}`);
    return found;
  };
  return { unitOf, sessionOf, providerOf };
}

/** Whether what is allocated here can be recorded, and why not. */
async function recordingHere({ reads }: SessionDeps, host: ThisHost | undefined, key: SessionKey) {
  if (!host) return { isPossible: true, reason: null };
  const row = await hostById(reads.as(systemActor(key, SESSIONS)), host.id);
  return { isPossible: row?.records === true, reason: row?.trouble ?? 'Its host does not record.' };
}

async function provision(
  deps: SessionDeps,
  providers: SessionProviders & { startUrlOf: StartUrlOf },
  key: SessionKey,
  signal: AbortSignal,
): Promise<SayingOfEnd | null> {
  const { host, startUrlOf } = providers;
  const { unitOf, sessionOf, providerOf } = sessionScope(deps, providers);
  const session = await sessionOf(key);
  if (!session || session.removedAt !== null || !(isProvisioning(session.status) || isLive(session.status)))
    return null;
  // Before the host is noted: a session that has no slot yet is provisioned nowhere.
  if ((await host?.hasPlace?.(key.sessionId)) === false)
    throw passing({ ...providerFailure('no_capacity', 'All slots are taken'), retryAfterMs: 500 }, 1);
  if (host && isProvisioning(session.status) && !(await unitOf(key)((tx) => noteHost(tx, key.sessionId, host))))
    return null;
  const createdAt = new Date(session.createdAt);
  const order = {
    ...refOf(key, session),
    startUrl: () => startUrlOf(key, session),
    viewport: session.viewport,
    allowedHosts: session.allowedHosts,
    expiresAt: isProvisioning(session.status)
      ? expiryOf(createdAt, new Date(), session.minutes)
      : new Date(session.expiresAt),
    capAt: capOf(createdAt),
    isRecorded: session.isRecorded,
  };
  const provider = providerOf(session);
  const created = await provider.create(order, signal);
  if (created.isOk) {
    const recording = await recordingHere(deps, host, key);
    const { value } = created;
    const isWanted = await unitOf(key)((tx) => sessionIsLive(tx, key.sessionId, value, recording));
    // Its row may name another host, which alone is asked to release it.
    if (!isWanted)
      await provider.release({ ...refOf(key, session), providerSessionId: value.providerSessionId }, signal);
    return null;
  }
  Context.current().cancellationSignal.throwIfAborted();
  if (isPassing(created)) throw passing(created, Context.current().info.attempt);
  return { reason: failureReason(created), detail: created.message };
}

async function finishRecording(
  deps: SessionDeps,
  providers: SessionProviders,
  key: SessionKey,
  signal: AbortSignal,
): Promise<void> {
  const { unitOf, sessionOf } = sessionScope(deps, providers);
  const beganAtMs = Date.now();
  for (let attempt = 1; ; attempt++) {
    const session = await sessionOf(key);
    if (session?.recordingState !== 'processing') return;
    const replays = providers.findReplays(session.provider);
    const found = await replays?.replays(refOf(key, session), signal);
    if (found?.isOk && found.value.state !== 'processing' && found.value.state !== 'recording') {
      const { state, pages, bytes, reason } = found.value;
      await unitOf(key)((tx) => recordingIsFinished(tx, key.sessionId, { state, pages: pages.length, bytes, reason }));
      return;
    }
    const reason = whyNoRecording(found, Date.now() - beganAtMs);
    if (reason !== undefined) {
      const none = { state: 'none', pages: 0, bytes: 0, reason } as const;
      await unitOf(key)((tx) => recordingIsFinished(tx, key.sessionId, none));
      return;
    }
    await Context.current().sleep(lookAgainMs(attempt));
  }
}
