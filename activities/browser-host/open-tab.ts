import { setTimeout as sleep } from 'node:timers/promises';
import type { Viewport } from '../../domain/browser-sessions/browser-provider.port.ts';
import type { TimelineEntry } from '../../domain/browser-sessions/session-changes.queries.ts';
import { type Cdp, CdpError, type Tab } from './browser.ts';
import { isFrontDoor } from './cdp-rules.ts';
import { Screencast } from './screencast.ts';

/** A page that crashes more often stays crashed. */
const RELOADS_MAX = 3;
/** So many dialogs of a tab within the window are accepted; what comes after them is dismissed. */
const DIALOGS_MAX = 5;
const DIALOG_WINDOW_MS = 10_000;
/** A page that asks without end is slowed down, so that it leaves something of the processor. */
const ENDLESS_PAUSE_MS = 100;
/** Of a tab's dialogs so many stand in the timeline. */
const DIALOGS_NOTED_MAX = 3;

interface OpenTabParts {
  id: string;
  number: number;
  session: string;
  viewport: Viewport;
  onNote: (entry: TimelineEntry) => void;
}

/** A tab, which answers its dialogs and comes back after a crash. */
export class OpenTab implements Tab {
  readonly id: string;
  readonly number: number;
  readonly cdpSession: string;
  readonly screencast: Screencast;
  title = '';
  url = '';
  readonly #cdp: Cdp;
  readonly #viewport: Viewport;
  readonly #onNote: OpenTabParts['onNote'];
  readonly #stopListening: () => void;
  #reloads = 0;
  #isClosed = false;
  #dialogsSinceMs = 0;
  #dialogs = 0;
  #dialogsNoted = 0;

  constructor(cdp: Cdp, { id, number, session, viewport, onNote }: OpenTabParts) {
    this.#cdp = cdp;
    this.id = id;
    this.number = number;
    this.cdpSession = session;
    this.#viewport = viewport;
    this.#onNote = onNote;
    this.screencast = new Screencast(cdp, session, viewport);
    this.#stopListening = cdp.onEvent(session, (method, params) => {
      if (method === 'Page.javascriptDialogOpening') void this.#answer(params as { type: string });
    });
  }

  /** Sets up what each page of the tab needs, before its first one runs. */
  prepare(): void {
    const { width, height } = this.#viewport;
    this.#ask('Page.enable');
    this.#ask('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    // Without it a tab behind another one is hidden, and there are no pictures of it.
    this.#ask('Emulation.setFocusEmulationEnabled', { enabled: true });
  }

  /** Whether title or address are other ones now. Those of a front door are credentials, and not kept. */
  become(newTitle: string, newUrl: string): boolean {
    const title = isFrontDoor(newTitle) ? '' : newTitle;
    const url = isFrontDoor(newUrl) ? 'about:blank' : newUrl;
    const isSame = title === this.title && url === this.url;
    this.title = title;
    this.url = url;
    return !isSame;
  }

  crashed(): void {
    const isLast = this.#reloads >= RELOADS_MAX;
    const summary = isLast
      ? `Tab ${this.number + 1} crashed again, and is not loaded any more`
      : `Tab ${this.number + 1} crashed, and is loaded again`;
    this.#onNote({ kind: 'tab_crashed', summary, data: { tab: this.number } });
    if (isLast) return;
    this.#reloads++;
    this.#ask('Page.reload');
    this.screencast.restart();
  }

  close(): void {
    this.#isClosed = true;
    this.#stopListening();
    this.screencast.close();
  }

  /** A dialog is in no picture, and holds up its page until it is answered. */
  async #answer({ type }: { type: string }): Promise<void> {
    const now = Date.now();
    if (now - this.#dialogsSinceMs > DIALOG_WINDOW_MS) {
      this.#dialogsSinceMs = now;
      this.#dialogs = 0;
    }
    const isEndless = ++this.#dialogs > DIALOGS_MAX;
    // Leaving a page is never refused.
    const accept = type === 'beforeunload' || !isEndless;
    if (type !== 'beforeunload' && this.#dialogsNoted < DIALOGS_NOTED_MAX) {
      this.#dialogsNoted++;
      const summary = `A dialog (${type}) of tab ${this.number + 1} was ${accept ? 'accepted' : 'dismissed'}`;
      this.#onNote({ kind: 'dialog', summary, data: { tab: this.number, type, accept } });
    }
    if (isEndless) await sleep(ENDLESS_PAUSE_MS);
    if (!this.#isClosed) this.#ask('Page.handleJavaScriptDialog', { accept });
  }

  /** What fails, fails because the tab is gone, or because another client of the protocol did the same. */
  #ask(method: string, params: object = {}): void {
    this.#cdp.send(method, params, this.cdpSession).catch((error: unknown) => {
      if (!(error instanceof CdpError)) throw error;
    });
  }
}
