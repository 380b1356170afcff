import type { Viewport } from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import { type Cdp, CdpError, type Picture } from '../chromium/browser.ts';

const JPEG_QUALITY = 60;
/** Chromium sends so many pictures before one is acknowledged, and drops what follows. */
const UNACKNOWLEDGED_MAX = 3;
/** When no picture came for so long, though one was to be expected, it is asked for again; the second is for later times. */
const [EXPECTED_MS, EXPECTED_MAX_MS] = [400, 2_000];
/** Acknowledged a little sooner than is wished: what is between two pictures takes its time, too. */
const ACKNOWLEDGE_SHARE = 0.75;

interface Frame {
  data: string;
  sessionId: number;
  metadata: { timestamp?: number; deviceWidth: number; deviceHeight: number };
}

/** Pictures of one tab, taken only while somebody watches, as often as the fastest wish. */
export class Screencast {
  readonly #cdp: Cdp;
  readonly #session: string;
  readonly #viewport: Viewport;
  readonly #watchers = new Set<Watcher>();
  readonly #stopListening: () => void;
  readonly #timers = new Set<NodeJS.Timeout>();
  #latest: Picture | undefined;
  #expecting: NodeJS.Timeout | undefined;
  #expectedMs = EXPECTED_MS;
  #isCasting = false;
  #acknowledgeAtMs = 0;
  #unacknowledged = 0;
  /** Whether a change behind the last picture may have been dropped; not behind one that was asked for. */
  #mayHaveMissed = false;
  #isAskedFor = false;
  /** Commands one after another: a start before its stop is refused. */
  #commands: Promise<unknown> = Promise.resolve();

  /** @param session of the protocol, attached to the tab. */
  constructor(cdp: Cdp, session: string, viewport: Viewport) {
    this.#cdp = cdp;
    this.#session = session;
    this.#viewport = viewport;
    this.#stopListening = cdp.onEvent(session, (method, params) => {
      if (method === 'Page.screencastFrame') this.#take(params as unknown as Frame);
      else if (method === 'Page.frameNavigated' && isMainFrame(params)) this.#expectPicture();
    });
  }

  /** Watches the pictures of the tab, as `Tabs.watch` does. */
  watch(maxPerSecond: number, listener: (picture: Picture) => void): () => void {
    const watcher = new Watcher(1_000 / maxPerSecond, listener);
    this.#watchers.add(watcher);
    if (this.#latest) watcher.give(this.#latest);
    if (!this.#isCasting) this.#start();
    return () => {
      watcher.close();
      if (this.#watchers.delete(watcher) && this.#watchers.size === 0) this.#stop();
    };
  }

  /** Begins anew, as it has to when the page crashed; answers its state as it is now to all who watch. */
  restart(): void {
    if (!this.#isCasting) return;
    this.#forget();
    this.#send('Page.stopScreencast');
    this.#isAskedFor = true;
    this.#start();
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers.clear();
    this.#stopListening();
    this.#forget();
  }

  #start(): void {
    this.#isCasting = true;
    const { width: maxWidth, height: maxHeight } = this.#viewport;
    this.#send('Page.startScreencast', { format: 'jpeg', quality: JPEG_QUALITY, maxWidth, maxHeight });
    this.#expectPicture();
  }

  /** Begun while a page comes from another process, the pictures never start; a change that was dropped never comes. */
  #expectPicture(): void {
    if (!this.#isCasting) return;
    clearTimeout(this.#expecting);
    this.#expecting = setTimeout(() => {
      this.#expectedMs = Math.min(this.#expectedMs * 2, EXPECTED_MAX_MS);
      this.restart();
    }, this.#expectedMs);
  }

  #stop(): void {
    this.#isCasting = false;
    this.#latest = undefined;
    this.#forget();
    this.#send('Page.stopScreencast');
  }

  #forget(): void {
    clearTimeout(this.#expecting);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#unacknowledged = 0;
    this.#mayHaveMissed = false;
  }

  #take({ data, sessionId, metadata }: Frame): void {
    if (!this.#isCasting) return;
    clearTimeout(this.#expecting);
    this.#expectedMs = EXPECTED_MS;
    this.#unacknowledged++;
    this.#mayHaveMissed = !this.#isAskedFor;
    this.#isAskedFor = false;
    const picture: Picture = {
      jpeg: Buffer.from(data, 'base64'),
      atMs: metadata.timestamp === undefined ? Date.now() : metadata.timestamp * 1_000,
      width: metadata.deviceWidth,
      height: metadata.deviceHeight,
    };
    this.#latest = picture;
    for (const watcher of this.#watchers) watcher.offer(picture);
    const now = Date.now();
    const paceMs = Math.min(...[...this.#watchers].map(({ everyMs }) => everyMs)) * ACKNOWLEDGE_SHARE;
    this.#acknowledgeAtMs = Math.max(now, Math.min(this.#acknowledgeAtMs, now + UNACKNOWLEDGED_MAX * paceMs));
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#acknowledge(sessionId);
    }, this.#acknowledgeAtMs - now);
    this.#timers.add(timer);
    this.#acknowledgeAtMs += paceMs;
  }

  #acknowledge(sessionId: number): void {
    this.#unacknowledged--;
    this.#send('Page.screencastFrameAck', { sessionId });
    if (this.#unacknowledged === 0 && this.#mayHaveMissed) this.#expectPicture();
  }

  #send(method: string, params: object = {}): void {
    const send = () => this.#cdp.send(method, params, this.#session);
    const sent = method === 'Page.screencastFrameAck' ? send() : (this.#commands = this.#commands.then(send, send));
    sent.catch((error: unknown) => {
      // The tab, or the browser, is gone.
      if (!(error instanceof CdpError)) throw error;
    });
  }
}

const isMainFrame = ({ frame }: Record<string, unknown>): boolean =>
  (frame as { parentId?: string }).parentId === undefined;

/** Gives each picture on, or the newest one as soon as it may. */
class Watcher {
  readonly everyMs: number;
  readonly #listener: (picture: Picture) => void;
  #waiting: Picture | undefined;
  #timer: NodeJS.Timeout | undefined;
  #nextAtMs = 0;

  constructor(everyMs: number, listener: (picture: Picture) => void) {
    this.everyMs = everyMs;
    this.#listener = listener;
  }

  offer(picture: Picture): void {
    this.#waiting = picture;
    if (this.#timer) return;
    const waitMs = this.#nextAtMs - Date.now();
    if (waitMs <= 0) this.give(picture);
    else
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        if (this.#waiting) this.give(this.#waiting);
      }, waitMs);
  }

  give(picture: Picture): void {
    this.#waiting = undefined;
    const now = Date.now();
    // From when it was due, so that late timers do not add up.
    const nextAtMs = this.#nextAtMs + this.everyMs;
    this.#nextAtMs = nextAtMs > now + this.everyMs / 2 ? nextAtMs : now + this.everyMs;
    this.#listener(picture);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#waiting = undefined;
  }
}
