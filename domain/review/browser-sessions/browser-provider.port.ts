import type { Answer } from '../../kernel/outbound/answer.port.ts';
import type { Isolation } from '../../kernel/settings/isolation-rules.ts';

import type { StatusReason } from './session-rules.ts';

/**
 * Who runs the browsers.
 * - `local`: hosts of this service
 * - `browserbase`: a hosted service, with the credentials of an integration of kind `browser`
 * - `external`: a command or pipeline that executes `record-session`, and reports by PATCH
 */
export const BROWSER_PROVIDERS = ['local', 'browserbase', 'external'] as const;
export type BrowserProviderName = (typeof BROWSER_PROVIDERS)[number];

/** In CSS pixels. */
export interface Viewport {
  width: number;
  height: number;
}

/** A session of ours in its tenant. */
export interface SessionOwner {
  /** Ours; the mark by which what runs at the provider is found again. */
  sessionId: string;
  tenantId: string;
  /** Project whose integration has the credentials. */
  projectId: string;
}

export interface SessionOrder extends SessionOwner {
  /**
   * Where the browser is to begin: the org's front door, a secret that opens it. Asked for immediately before the first
   * navigation, and once per attempt; never kept, logged or recorded. Rejects with `StartRefused` when the org is not opened,
   * and with another error when that may pass: `create` leaves nothing behind then, and rejects with it.
   */
  startUrl: () => Promise<URL>;
  viewport: Viewport;
  /**
   * Host names, `*.` at the front for all below, that the browser may reach beside those of the org of `startUrl`. A hosted
   * provider, which would have to know all of them before that, bars nothing.
   */
  allowedHosts: readonly string[];
  /** When it ends, unless it is extended by `keepUntil`. */
  expiresAt: Date;
  /** When it ends at the latest. */
  capAt: Date;
  isRecorded: boolean;
}

/** The org was not opened. `message` may be shown to people, and says what to do. */
export class StartRefused extends Error {}

/** A session at its provider. */
export interface SessionRef extends SessionOwner {
  /** Null: it is not known whether anything was created. The provider finds it by our mark. */
  providerSessionId: string | null;
}

/**
 * Why a provider did not do what was asked.
 * - `no_capacity`: nothing is free now; it may be later
 * - `limited`: too many requests (429)
 * - `unavailable`: not reached, or failed on its side (5xx, an answer that is no JSON)
 * - `timeout`: no answer in time; what was asked may or may not have been done
 * - `not_found`: it does not know the session, or the page
 * - `in_progress`: what was asked for is being prepared
 * - `auth_failed`: the credential is missing or refused
 * - `rejected`: it refuses this request for good
 * - `front_door_refused`, `navigation_failed`: the org was not opened; its page did not load
 */
export const PROVIDER_FAILURES = [
  'no_capacity',
  'limited',
  'unavailable',
  'timeout',
  'not_found',
  'in_progress',
  'auth_failed',
  'rejected',
  'front_door_refused',
  'navigation_failed',
] as const;
export type ProviderFailureKind = (typeof PROVIDER_FAILURES)[number];

export interface ProviderFailure {
  isOk: false;
  kind: ProviderFailureKind;
  /** For people; at most 400 characters, without secrets. */
  message: string;
  /** After what time the provider wants to be asked again; absent: it did not say. */
  retryAfterMs?: number;
}
export type ProviderAnswer<T> = Answer<T, ProviderFailure>;

export interface CreatedSession {
  providerSessionId: string;
  /** Null: the provider does not say. */
  isolation: Isolation | null;
  /** The host of a local session, with its id and its own task queue; null for hosted browsers. */
  host: { id: string; queue: string } | null;
}

/** What a session is doing. One that ended says why. */
export type ProviderSession =
  | { state: 'starting' | 'running' }
  | { state: 'ended'; reason: StatusReason; detail: string | null };

/** Where a running session is watched: on the page of ours alone, or in a frame on it. */
export type LiveView = { kind: 'own' } | { kind: 'frame'; url: string };

/** The recording of a tab. Times are milliseconds since the epoch. */
export interface ReplayPage {
  /** A whole number of at most 3 digits. */
  pageId: string;
  title: string;
  startTimeMs: number;
  /** Null: it goes on. */
  endTimeMs: number | null;
}

export interface Replays {
  /** `recording`: the session goes on; `processing`: ask again later; `partial`: something of it is missing. */
  state: 'none' | 'recording' | 'processing' | 'ready' | 'partial';
  pages: readonly ReplayPage[];
  /** 0 where the provider does not say. */
  bytes: number;
  /** Why it is missing or partial, for people. */
  reason: string | null;
}

/** An HLS playlist. */
export interface Playlist {
  /** The playlist as it was written: not necessarily UTF-8. */
  body: Buffer;
  /** What its relative addresses are resolved against: where it came from in the end. */
  address: string;
}

/** A part of a recording, or of the answer to a request of a range of it. */
export interface Segment {
  status: 200 | 206 | 416;
  contentType: string;
  /** Bytes of the body; null: not known. */
  length: number | null;
  /** `Content-Range` of 206 and 416. */
  range: string | null;
  /** What the relative addresses of a playlist are resolved against: where it came from in the end. */
  address: string;
  body: AsyncIterable<Uint8Array>;
}

/**
 * A provider of browsers. Every call may be repeated; every failure of the provider is a value, and only bugs throw.
 * `signal` aborts a call that runs.
 */
export interface BrowserProvider {
  readonly name: BrowserProviderName;
  /** How often `get` is asked for a session that is held, in milliseconds. */
  readonly pollMs: number;
  /**
   * Allocates a browser that shows the order's first page. Repeated with the same `sessionId` it answers the same browser.
   * When it answers a failure, other than `timeout` and `unavailable`, nothing is left behind.
   */
  create(order: SessionOrder, signal: AbortSignal): Promise<ProviderAnswer<CreatedSession>>;
  /** What the session is doing; `not_found`: the provider has lost it. */
  get(ref: SessionRef, signal: AbortSignal): Promise<ProviderAnswer<ProviderSession>>;
  /** Says when the session ends from now on. A provider that cannot move the end does nothing: it is released then. */
  keepUntil(ref: SessionRef, expiresAt: Date, signal: AbortSignal): Promise<ProviderAnswer<null>>;
  liveView(ref: SessionRef, signal: AbortSignal): Promise<ProviderAnswer<LiveView>>;
  /** Ends the session. `isGone`: nothing of it runs any more; false: ask again. One that it does not know is gone. */
  release(ref: SessionRef, signal: AbortSignal): Promise<ProviderAnswer<{ isGone: boolean }>>;
  /** Sessions of the project's account that bear our mark and run. */
  marked(owner: Omit<SessionOwner, 'sessionId'>, signal: AbortSignal): Promise<ProviderAnswer<readonly SessionRef[]>>;
  replays(ref: SessionRef, signal: AbortSignal): Promise<ProviderAnswer<Replays>>;
  playlist(ref: SessionRef, pageId: string, signal: AbortSignal): Promise<ProviderAnswer<Playlist>>;
  /** @param address of the segment, as it stands in a playlist after it was resolved. @param range the request's `Range`. */
  segment(
    ref: SessionRef,
    address: string,
    range: string | null,
    signal: AbortSignal,
  ): Promise<ProviderAnswer<Segment>>;
  /** Removes what is recorded; what is gone already is fine. */
  removeRecording(ref: SessionRef, signal: AbortSignal): Promise<ProviderAnswer<null>>;
}

/** The part of a provider that needs no browser host: what was recorded, and where a session is watched. */
export type BrowserReplays = Pick<
  BrowserProvider,
  'name' | 'liveView' | 'replays' | 'playlist' | 'segment' | 'removeRecording'
>;
