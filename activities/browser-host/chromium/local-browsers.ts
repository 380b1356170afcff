import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type {
  BrowserProvider,
  BrowserReplays,
  CreatedSession,
  ProviderAnswer,
  ProviderSession,
  SessionOrder,
  SessionOwner,
  SessionRef,
  Viewport,
} from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import { providerFailure } from '../../../domain/review/browser-sessions/provider-failure-rules.ts';
import type { TimelineEntry } from '../../../domain/review/browser-sessions/session-changes.queries.ts';
import { within } from '../../../domain/kernel/queues/within.ts';
import type { BrowserEnd, SessionBrowser, SessionBrowsers, RunningBrowser } from './browser.ts';
import { ChromiumStartError } from './chromium.ts';
import { LocalSession, type Recording } from '../sessions/local-session.ts';
import { Spares } from './spares.ts';

/** Size of the first page of spare browsers; a session that asks for another size has a browser started. */
const SPARE_VIEWPORT: Viewport = { width: 1_280, height: 720 };
/** How long a session waits here for a slot, before it may look for one on another host. */
const PLACE_WAIT_MS = 2_000;
const ASK_AGAIN_MS = 500;
/** A session that ended and that nobody released by then is forgotten. */
const FORGOTTEN_AFTER_MS = 2 * 3_600_000;

export interface LocalBrowsersParts {
  host: { id: string; queue: string };
  /** Sessions at the same time. */
  places: number;
  /** Browsers that wait, started, beside those. */
  spares: number;
  /** Rejects with `ChromiumStartError`. */
  startBrowser: (viewport: Viewport) => Promise<RunningBrowser>;
  /** Undefined: this host does not record. */
  startRecorder?: ((browser: SessionBrowser) => Recording) | undefined;
  recordings: BrowserReplays;
  /** Writes to the timeline of a session. */
  note: (owner: SessionOwner, entry: TimelineEntry) => Promise<void>;
  log: Logger;
}

/** Browsers that run on this machine. */
export class LocalBrowsers implements BrowserProvider, SessionBrowsers {
  readonly name = 'local';
  readonly pollMs = 500;
  readonly #parts: LocalBrowsersParts;
  readonly #spares: Spares;
  readonly #sessions = new Map<string, LocalSession>();
  /** Sessions that have a slot: until nothing of them runs. */
  readonly #placed = new Set<LocalSession>();
  /** Sessions that were not to run here when that was last asked. */
  #strays: ReadonlySet<LocalSession> = new Set();
  #placeIsFree = Promise.withResolvers<void>();
  #isStopping = false;

  constructor(parts: LocalBrowsersParts) {
    this.#parts = parts;
    this.#spares = new Spares(parts.spares, () => parts.startBrowser(SPARE_VIEWPORT), parts.log);
  }

  get placesUsed(): number {
    return this.#placed.size;
  }

  /** Resolves when the spare browsers wait. */
  warmUp(): Promise<void> {
    return this.#spares.fill();
  }

  find(sessionId: string): SessionBrowser | undefined {
    return this.#sessions.get(sessionId)?.view;
  }

  get #isPlaceFree(): boolean {
    return !this.#isStopping && this.#placed.size < this.#parts.places;
  }

  /** Waits a little for a slot; false: there is none, and another host may have one. One that is allocated has its own. */
  async hasPlace(sessionId: string): Promise<boolean> {
    const deadline = Date.now() + PLACE_WAIT_MS;
    for (;;) {
      if (this.#sessions.has(sessionId)) return true;
      if (this.#isPlaceFree) return true;
      const leftMs = deadline - Date.now();
      if (this.#isStopping || leftMs <= 0) return false;
      await within(leftMs, this.#placeIsFree.promise, () => undefined);
    }
  }

  async create(order: SessionOrder, signal: AbortSignal): Promise<ProviderAnswer<CreatedSession>> {
    const mayBegin = await this.hasPlace(order.sessionId);
    // Others that waited may have been quicker.
    if (!this.#sessions.has(order.sessionId) && !(mayBegin && this.#isPlaceFree))
      return { ...providerFailure('no_capacity', 'All slots of this host are taken'), retryAfterMs: ASK_AGAIN_MS };
    const session = this.#sessions.get(order.sessionId) ?? this.#begin(order);
    const abort = () => session.end({ reason: 'cancelled', detail: null });
    signal.addEventListener('abort', abort, { once: true });
    try {
      const failure = await session.allocated;
      if (!failure) {
        const { id, queue } = this.#parts.host;
        const isolation = session.isolation ?? null;
        return { isOk: true, value: { providerSessionId: `${id}/${order.sessionId}`, isolation, host: { id, queue } } };
      }
      this.#forget(session);
      return failure;
    } catch (error) {
      this.#forget(session);
      if (!(error instanceof ChromiumStartError)) throw error;
      this.#parts.log.error({ err: error, sessionId: order.sessionId }, 'no browser started');
      return providerFailure('unavailable', 'The browser did not start');
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  async get({ sessionId }: SessionRef): Promise<ProviderAnswer<ProviderSession>> {
    const session = this.#sessions.get(sessionId);
    return session ? { isOk: true, value: session.state } : GONE;
  }

  async keepUntil({ sessionId }: SessionRef, expiresAt: Date): Promise<ProviderAnswer<null>> {
    this.#sessions.get(sessionId)?.keepUntil(expiresAt);
    return DONE;
  }

  async liveView(): ReturnType<BrowserProvider['liveView']> {
    return { isOk: true, value: { kind: 'own' } };
  }

  async release({ sessionId }: SessionRef): Promise<ProviderAnswer<{ isGone: boolean }>> {
    const session = this.#sessions.get(sessionId);
    session?.end({ reason: 'stopped', detail: null });
    const isGone = !session || (await within(ASK_AGAIN_MS, session.gone.then(isTrue), () => false));
    if (isGone && session) void session.recorded.then(() => this.#forget(session));
    return { isOk: true, value: { isGone } };
  }

  async marked({ tenantId, projectId }: Omit<SessionOwner, 'sessionId'>) {
    const mine = [...this.#placed].map(({ order }) => order).filter((order) => order.tenantId === tenantId);
    return {
      isOk: true as const,
      value: mine
        .filter((order) => order.projectId === projectId)
        .map(({ sessionId }) => ({
          sessionId,
          tenantId,
          projectId,
          providerSessionId: `${this.#parts.host.id}/${sessionId}`,
        })),
    };
  }

  async replays(ref: SessionRef, signal: AbortSignal): ReturnType<BrowserProvider['replays']> {
    const session = this.#sessions.get(ref.sessionId);
    if (!session) return this.#parts.recordings.replays(ref, signal);
    const isLive = session.state.state !== 'ended';
    const isStored = !isLive && (await within(ASK_AGAIN_MS, session.recorded.then(isTrue), () => false));
    const found = await this.#parts.recordings.replays(ref, signal);
    return isStored || !found.isOk
      ? found
      : { isOk: true, value: { ...found.value, state: isLive ? 'recording' : 'processing' } };
  }

  playlist(...asked: Parameters<BrowserProvider['playlist']>): ReturnType<BrowserProvider['playlist']> {
    return this.#parts.recordings.playlist(...asked);
  }

  segment(...asked: Parameters<BrowserProvider['segment']>): ReturnType<BrowserProvider['segment']> {
    return this.#parts.recordings.segment(...asked);
  }

  removeRecording(
    ...asked: Parameters<BrowserProvider['removeRecording']>
  ): ReturnType<BrowserProvider['removeRecording']> {
    return this.#parts.recordings.removeRecording(...asked);
  }

  /**
   * Ends what is not to run here twice in succession: the row of one that has just begun may not name this host yet.
   * @param wantedOf those of these sessions of a tenant that are to run here.
   */
  async endStrays(
    wantedOf: (tenantId: string, sessionIds: readonly string[]) => Promise<readonly string[]>,
  ): Promise<void> {
    const placed = [...this.#placed];
    const byTenant = Map.groupBy(placed, ({ order }) => order.tenantId);
    const answers = await Promise.all(
      [...byTenant].map(([tenantId, sessions]) =>
        wantedOf(
          tenantId,
          sessions.map(({ order }) => order.sessionId),
        ),
      ),
    );
    const wanted = new Set(answers.flat());
    const strays = placed.filter(({ order }) => !wanted.has(order.sessionId));
    for (const session of strays) {
      if (!this.#strays.has(session)) continue;
      this.#parts.log.warn({ sessionId: session.order.sessionId }, 'a session that is not to run here is ended');
      session.end({ reason: 'cancelled', detail: null });
      // Nobody releases it.
      void Promise.all([session.gone, session.recorded]).then(() => this.#forget(session));
    }
    this.#strays = new Set(strays);
  }

  /** Ends what is allocated, or is about to be; others may be allocated afterwards. */
  endAll(end: BrowserEnd): void {
    for (const session of this.#sessions.values()) session.end(end);
  }

  /** Allocates nothing any more, and ends all sessions; resolves when they are released and their recordings stored. */
  async stop(end: BrowserEnd): Promise<void> {
    this.#isStopping = true;
    this.#free();
    this.endAll(end);
    await this.#spares.close();
    while (this.#sessions.size > 0) await sleep(ASK_AGAIN_MS / 5);
  }

  #begin(order: SessionOrder): LocalSession {
    const { startRecorder, startBrowser, note, log } = this.#parts;
    const isUsual = order.viewport.width === SPARE_VIEWPORT.width && order.viewport.height === SPARE_VIEWPORT.height;
    const session = new LocalSession(order, {
      takeBrowser: async () => (isUsual && this.#spares.take()) || startBrowser(order.viewport),
      startRecorder,
      note: (entry) => {
        note(order, entry).catch((error: unknown) => log.warn({ err: error }, 'the timeline was not written'));
      },
    });
    this.#sessions.set(order.sessionId, session);
    this.#placed.add(session);
    void session.gone.finally(() => {
      this.#placed.delete(session);
      this.#free();
      setTimeout(() => this.#forget(session), FORGOTTEN_AFTER_MS).unref();
    });
    return session;
  }

  #forget(session: LocalSession): void {
    const { sessionId } = session.order;
    if (this.#sessions.get(sessionId) === session) this.#sessions.delete(sessionId);
  }

  #free(): void {
    this.#placeIsFree.resolve();
    this.#placeIsFree = Promise.withResolvers<void>();
  }
}

const isTrue = () => true;
const DONE = { isOk: true, value: null } as const;
const GONE = providerFailure('not_found', 'The host does not run the session');
