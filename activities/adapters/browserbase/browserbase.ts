import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import {
  type BrowserProvider,
  type CreatedSession,
  type ProviderAnswer,
  type SessionOrder,
  type SessionOwner,
  type SessionRef,
  StartRefused,
} from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import { isPlaylist } from '../../../domain/review/browser-sessions/recordings/playlist-rules.ts';
import { providerFailure } from '../../../domain/review/browser-sessions/provider-failure-rules.ts';
import type { HostAddresses } from '../../../domain/mocks/serving/own-mocks.ts';
import {
  type BrowserbaseAccess,
  type BrowserbaseCall,
  createBrowserbaseHttp,
  type BrowserbaseReply,
} from './browserbase-http.ts';
import { openFirstPageAt } from './cdp-first-page.ts';
import { isRunning, Live, Replays, Session, stateOf } from './browserbase-answers.ts';
import { createReplaySegments } from './replay-segments.ts';

export interface BrowserbaseParts {
  outbound: HostAddresses;
  /** The integration of kind `browser` that a project uses; undefined when there is none (any more). */
  accessOf: (owner: Omit<SessionOwner, 'sessionId'>) => Promise<BrowserbaseAccess | undefined>;
  now: () => Date;
  /** Time-out of one call, in milliseconds. */
  timeoutMs: number;
  /** Pace of `openFirstPage`. */
  pace?: number;
}

/** Names of the metadata by which sessions are found again. */
const MARK = 'quaysideSession';
const TENANT_MARK = 'quaysideTenant';
const PROJECT_MARK = 'quaysideProject';
const POLL_MS = 10_000;
/** Bounds of the provider for the time-out of a session, in seconds. */
const TIMEOUT_MIN_S = 60;
const TIMEOUT_MAX_S = 21_600;
/** How long a created session may take until it runs. */
const STARTING_MAX_MS = 60_000;

/** Browserbase by its published REST interface, version 1. */
export function createBrowserbase({ outbound, accessOf, now, timeoutMs, pace }: BrowserbaseParts): BrowserProvider & {
  close: () => Promise<void>;
} {
  const http = createBrowserbaseHttp(outbound, timeoutMs);
  const segments = createReplaySegments(outbound);

  /** Calls with the project's credential. */
  async function call(
    owner: Omit<SessionOwner, 'sessionId'>,
    order: Omit<BrowserbaseCall, 'access'>,
  ): Promise<ProviderAnswer<BrowserbaseReply>> {
    const access = await accessOf(owner);
    if (!access) return providerFailure('auth_failed', 'The project has no active integration of kind browser');
    return http.call({ ...order, access });
  }

  async function read<Value>(
    owner: Omit<SessionOwner, 'sessionId'>,
    schema: z.ZodType<Value>,
    order: Omit<BrowserbaseCall, 'access'>,
  ): Promise<ProviderAnswer<Value>> {
    const answer = await call(owner, order);
    if (!answer.isOk) return answer;
    const parsed = schema.safeParse(jsonOf(answer.value.body));
    return parsed.success
      ? { isOk: true, value: parsed.data }
      : providerFailure(
          'unavailable',
          `Browserbase answered ${order.method} ${placeOf(order.path)} with something unexpected`,
        );
  }

  const sessionAt = (ref: SessionOwner, id: string, signal: AbortSignal) =>
    read(ref, Session, { method: 'GET', path: `/v1/sessions/${id}`, signal });

  /** Sessions of ours by a mark; the provider's filter is not relied upon. */
  async function withMark(
    owner: Omit<SessionOwner, 'sessionId'>,
    name: string,
    value: string,
    signal: AbortSignal,
  ): Promise<ProviderAnswer<Session[]>> {
    const query = new URLSearchParams({ q: `user_metadata['${name}']:'${value}'` });
    const answer = await read(owner, Session.array().max(10_000), {
      method: 'GET',
      path: `/v1/sessions?${query}`,
      signal,
    });
    if (!answer.isOk) return answer;
    return { isOk: true, value: answer.value.filter(({ userMetadata }) => userMetadata?.[name] === value) };
  }

  /** The session's id at the provider: as it is known, else by our mark. Undefined: nothing was created. */
  async function idOf(ref: SessionRef, signal: AbortSignal): Promise<ProviderAnswer<string | undefined>> {
    if (ref.providerSessionId !== null) return { isOk: true, value: ref.providerSessionId };
    const marked = await withMark(ref, MARK, ref.sessionId, signal);
    if (!marked.isOk) return marked;
    return { isOk: true, value: (marked.value.find(isRunning) ?? marked.value[0])?.id };
  }

  /** The session of an order: the one that an earlier attempt created, else a new one. */
  async function found(order: SessionOrder, signal: AbortSignal): Promise<ProviderAnswer<Session>> {
    const marked = await withMark(order, MARK, order.sessionId, signal);
    if (!marked.isOk) return marked;
    const earlier = marked.value.find(isRunning);
    if (earlier) return { isOk: true, value: earlier };
    const seconds = Math.ceil((order.capAt.getTime() - now().getTime()) / 1_000);
    return read(order, Session, {
      method: 'POST',
      path: '/v1/sessions',
      signal,
      body: {
        // The time-out cannot be moved later, so it is that of the cap; the session is released when it expires.
        timeout: Math.min(TIMEOUT_MAX_S, Math.max(TIMEOUT_MIN_S, seconds)),
        keepAlive: true,
        browserSettings: {
          viewport: order.viewport,
          recordSession: order.isRecorded,
          // The provider's log of a session would hold the front door.
          logSession: false,
          solveCaptchas: false,
          // No `allowedDomains`: the hosts of the org are known only when its front door is opened, and would be blocked.
        },
        userMetadata: { [MARK]: order.sessionId, [TENANT_MARK]: order.tenantId, [PROJECT_MARK]: order.projectId },
      },
    });
  }

  async function running(order: SessionOrder, session: Session, signal: AbortSignal): Promise<ProviderAnswer<Session>> {
    const until = now().getTime() + STARTING_MAX_MS;
    let current = session;
    while (current.status !== 'RUNNING' || typeof current.connectUrl !== 'string') {
      if (!isRunning(current)) return providerFailure('rejected', `Browserbase ended the session: ${current.status}`);
      if (now().getTime() >= until) return providerFailure('timeout', 'Browserbase did not start the session in time');
      await sleep(200, undefined, { signal });
      const next = await sessionAt(order, session.id, signal);
      if (!next.isOk) return next;
      current = next.value;
    }
    return { isOk: true, value: current };
  }

  async function release(ref: SessionRef, signal: AbortSignal): Promise<ProviderAnswer<{ isGone: boolean }>> {
    const id = await idOf(ref, signal);
    if (!id.isOk) return id;
    if (id.value === undefined) return GONE;
    const before = await sessionAt(ref, id.value, signal);
    if (!before.isOk) return before.kind === 'not_found' ? GONE : before;
    if (!isRunning(before.value)) return GONE;
    const answer = await call(ref, {
      method: 'POST',
      path: `/v1/sessions/${id.value}`,
      signal,
      body: { status: 'REQUEST_RELEASE' },
    });
    if (!answer.isOk && answer.kind !== 'not_found') return answer;
    const after = await sessionAt(ref, id.value, signal);
    if (!after.isOk) return after.kind === 'not_found' ? GONE : after;
    return { isOk: true, value: { isGone: !isRunning(after.value) } };
  }

  async function openOrg(order: SessionOrder, { connectUrl }: Session, signal: AbortSignal) {
    try {
      return await openFirstPageAt(outbound, connectUrl ?? '', order, signal, pace);
    } catch (error) {
      if (error instanceof StartRefused) return providerFailure('front_door_refused', error.message);
      throw error;
    }
  }

  async function create(order: SessionOrder, signal: AbortSignal): Promise<ProviderAnswer<CreatedSession>> {
    const session = await found(order, signal);
    if (!session.isOk) return session;
    const { id } = session.value;
    const started = await running(order, session.value, signal);
    const opened = started.isOk ? await openOrg(order, started.value, signal) : started;
    if (opened.isOk) return { isOk: true, value: { providerSessionId: id, isolation: null, host: null } };
    if (opened.kind === 'timeout' || opened.kind === 'unavailable') return opened;
    // What is left of a failed attempt costs money; the sweep of marked sessions ends it where this fails, too.
    await release({ ...order, providerSessionId: id }, signal).catch(() => undefined);
    return opened;
  }

  return {
    name: 'browserbase',
    pollMs: POLL_MS,
    create,

    async get(ref, signal) {
      const id = await idOf(ref, signal);
      if (!id.isOk) return id;
      if (id.value === undefined) return providerFailure('not_found', 'Browserbase does not know the session');
      const session = await sessionAt(ref, id.value, signal);
      return session.isOk ? { isOk: true, value: stateOf(session.value) } : session;
    },

    keepUntil: async () => ({ isOk: true, value: null }),

    async liveView(ref, signal) {
      const live = await read(ref, Live, { method: 'GET', path: `/v1/sessions/${knownId(ref)}/debug`, signal });
      return live.isOk ? { isOk: true, value: { kind: 'frame', url: live.value.debuggerFullscreenUrl } } : live;
    },

    release,

    async marked(owner, signal) {
      const marked = await withMark(owner, PROJECT_MARK, owner.projectId, signal);
      if (!marked.isOk) return marked;
      const ours = marked.value.filter(
        (session) => isRunning(session) && session.userMetadata?.[TENANT_MARK] === owner.tenantId,
      );
      return {
        isOk: true,
        value: ours.flatMap(({ id, userMetadata }) => {
          const sessionId = userMetadata?.[MARK];
          return typeof sessionId === 'string' ? [{ ...owner, sessionId, providerSessionId: id }] : [];
        }),
      };
    },

    async replays(ref, signal) {
      if (ref.providerSessionId === null)
        return providerFailure('not_found', 'Browserbase never allocated the session');
      const session = await sessionAt(ref, ref.providerSessionId, signal);
      if (!session.isOk) return session;
      if (isRunning(session.value))
        return { isOk: true, value: { state: 'recording', pages: [], bytes: 0, reason: null } };
      const replays = await read(ref, Replays, { method: 'GET', path: `/v1/sessions/${knownId(ref)}/replays`, signal });
      if (!replays.isOk) return replays.kind === 'not_found' ? UNKNOWN : replays;
      const pages = replays.value.pages.map(({ pageId, startTimeMs, endTimeMs, title }) => ({
        pageId,
        title: title ?? '',
        startTimeMs,
        endTimeMs: endTimeMs ?? null,
      }));
      return pages.length === 0 ? PROCESSING : { isOk: true, value: { state: 'ready', pages, bytes: 0, reason: null } };
    },

    async playlist(ref, pageId, signal) {
      const answer = await call(ref, {
        method: 'GET',
        path: `/v1/sessions/${knownId(ref)}/replays/${pageId}`,
        accept: 'application/vnd.apple.mpegurl',
        followsRedirects: true,
        signal,
      });
      if (!answer.isOk) return answer;
      const { body, address } = answer.value;
      return isPlaylist(body)
        ? { isOk: true, value: { body, address } }
        : providerFailure('unavailable', 'Browserbase answered with something that is no playlist');
    },

    segment: (_, address, range, signal) => segments.fetch(address, range, signal),

    // The provider removes recordings by itself, after 31 days: its interface has no call for it.
    removeRecording: async () => ({ isOk: true, value: null }),

    async close() {
      await http.close();
      await segments.close();
    },
  };
}

const GONE = { isOk: true, value: { isGone: true } } as const;
/** For a moment after the session, or for good. */
const UNKNOWN = providerFailure('in_progress', 'Browserbase has no recording of the session');
const PROCESSING = { isOk: true, value: { state: 'processing', pages: [], bytes: 0, reason: null } } as const;

/** Without ids and queries. */
const placeOf = (path: string): string => path.replace(/\?.*/, '').replace(/[\w-]{20,}/g, '{id}');

function knownId({ providerSessionId }: SessionRef): string {
  if (providerSessionId === null) throw new Error('The session has no id at its provider yet');
  return providerSessionId;
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
