import type { Viewport } from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import type { TimelineEntry } from '../../../domain/review/browser-sessions/session-changes.queries.ts';
import { type Cdp, CdpError, type Dialog, type DialogAnswer, type Tab } from '../chromium/browser.ts';
import { isFrontDoor } from './cdp-rules.ts';
import { Screencast } from '../live/screencast.ts';
import { TabDialogs } from './tab-dialogs.ts';

/** A page that crashes more often stays crashed. */
const RELOADS_MAX = 3;
/** Dialogs of one tab that are noted in the timeline. */
const DIALOGS_NOTED_MAX = 3;

const ANSWERED = {
  nobody: 'without an answer',
  viewer: 'by who controls the browser',
  automation: 'by automation',
} as const;

interface OpenTabParts {
  id: string;
  number: number;
  session: string;
  viewport: Viewport;
  onNote: (entry: TimelineEntry) => void;
  /** Whether anybody is there who answers its dialogs. */
  isAttended: () => boolean;
  /** It asks, or was answered. */
  onDialog: () => void;
}

/** A tab, whose dialogs are answered, and which comes back after a crash. */
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
  readonly #dialogs: TabDialogs;
  readonly #stopListening: () => void;
  #reloads = 0;
  #dialogsNoted = 0;

  constructor(cdp: Cdp, parts: OpenTabParts) {
    const { id, number, session, viewport, onNote, isAttended, onDialog } = parts;
    this.#cdp = cdp;
    this.id = id;
    this.number = number;
    this.cdpSession = session;
    this.#viewport = viewport;
    this.#onNote = onNote;
    this.screencast = new Screencast(cdp, session, viewport);
    this.#dialogs = new TabDialogs({
      isAttended,
      handle: ({ accept, text }) =>
        this.#ask('Page.handleJavaScriptDialog', { accept, ...(text !== undefined && { promptText: text }) }),
      onChange: onDialog,
      onClosed: (dialog, accepted, by) => this.#noteDialog(dialog, accepted, by),
    });
    this.#stopListening = cdp.onEvent(session, (method, params) => {
      if (method === 'Page.javascriptDialogOpening') this.#dialogs.opened(params);
      else if (method === 'Page.javascriptDialogClosed') this.#dialogs.closed(params);
    });
  }

  get dialog(): Dialog | undefined {
    return this.#dialogs.open;
  }

  /** Answers a dialog, as `Tabs.answer` does. */
  answer(number: number, answer: DialogAnswer): boolean {
    return this.#dialogs.answer(number, answer);
  }

  /** Somebody who answers dialogs came or left. */
  attendanceChanged(): void {
    this.#dialogs.attendanceChanged();
  }

  /** Sets up what each page of the tab needs, before its first one runs. */
  prepare(): void {
    this.#ask('Page.enable');
    this.#setViewport();
    // Without it a tab behind another one is hidden, and there are no pictures of it.
    this.#ask('Emulation.setFocusEmulationEnabled', { enabled: true });
  }

  /** Restores the viewport, as `Tabs.restoreViewport` does. */
  restoreViewport(): void {
    // What is set a second time has no effect: Chromium does not know that the end of another client took it away.
    this.#ask('Emulation.clearDeviceMetricsOverride');
    this.#setViewport();
  }

  #setViewport(): void {
    const { width, height } = this.#viewport;
    this.#ask('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
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
    this.#dialogs.forget();
    this.#ask('Page.reload');
    this.screencast.restart();
  }

  close(): void {
    this.#stopListening();
    this.#dialogs.forget();
    this.screencast.close();
  }

  #noteDialog({ kind }: Dialog, accept: boolean, by: keyof typeof ANSWERED): void {
    // Pages are left all the time.
    if (kind === 'beforeunload' || this.#dialogsNoted >= DIALOGS_NOTED_MAX) return;
    this.#dialogsNoted++;
    const answered = `${accept ? 'accepted' : 'dismissed'} ${ANSWERED[by]}`;
    const summary = `A dialog (${kind}) of tab ${this.number + 1} was ${answered}`;
    this.#onNote({ kind: 'dialog', summary, data: { tab: this.number, type: kind, accept, by } });
  }

  /** What fails, fails because the tab is gone, or because another client of the protocol did the same. */
  #ask(method: string, params: object = {}): void {
    this.#cdp.send(method, params, this.cdpSession).catch((error: unknown) => {
      if (!(error instanceof CdpError)) throw error;
    });
  }
}
