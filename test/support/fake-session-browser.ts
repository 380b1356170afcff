import type {
  BrowserEnd,
  CdpMessage,
  Dialog,
  DialogAnswer,
  SessionBrowser,
  Picture,
  Tab,
} from '../../activities/browser-host/chromium/browser.ts';
import { newId } from '../../domain/kernel/shared/ids.ts';

interface Watch {
  tabId: string;
  maxPerSecond: number;
  listener: (picture: Picture) => void;
}

/** A browser that is none: its tabs are a list, and a test takes the pictures. */
export class FakeSessionBrowser implements SessionBrowser {
  readonly owner;
  readonly viewport = { width: 1_280, height: 720 };
  readonly isRecorded = true;
  /** What was asked of the browser, except for keys and the mouse. */
  readonly asked: string[] = [];
  /** Keys, mouse and texts, in order. */
  readonly input: { method: string; params: Record<string, unknown>; tab: string | undefined }[] = [];
  /** Who is there to answer dialogs, and what was answered. */
  readonly attending = new Set<{ tabId: string | undefined }>();
  readonly answers: DialogAnswer[] = [];
  readonly watches = new Set<Watch>();
  readonly ending: Promise<BrowserEnd>;
  end!: (end: BrowserEnd) => void;
  expires = new Date(Date.now() + 600_000);
  /** The page answers nothing any more. */
  isHung = false;
  #tabs: Tab[] = [];
  #opened = 0;
  #listeners = new Set<() => void>();

  constructor({ sessionId = newId(), tenantId = newId(), projectId = newId() } = {}) {
    this.owner = { sessionId, tenantId, projectId };
    this.ending = new Promise((resolve) => {
      this.end = resolve;
    });
    this.add('https://shop.example.com/', 'Shop');
  }

  expiresAt = () => this.expires;

  readonly cdp = {
    send: async (method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> => {
      if (method.startsWith('Input.'))
        this.input.push({ method, params: params as Record<string, unknown>, tab: sessionId });
      else this.asked.push(`${method} ${JSON.stringify(params)}`);
      if (this.isHung) return new Promise(() => undefined);
      if (method === 'Page.getNavigationHistory') return { currentIndex: 1, entries: [{ id: 7 }, { id: 8 }] };
      return {};
    },
    onEvent: () => () => undefined,
    pass: async (message: CdpMessage) => message,
    onAnyEvent: () => () => undefined,
    closed: new Promise<void>(() => undefined),
  };

  readonly tabs = {
    list: () => this.#tabs,
    onChange: (listener: () => void) => {
      this.#listeners.add(listener);
      return () => void this.#listeners.delete(listener);
    },
    watch: (tabId: string, maxPerSecond: number, listener: (picture: Picture) => void) => {
      const watch = { tabId, maxPerSecond, listener };
      this.watches.add(watch);
      return () => void this.watches.delete(watch);
    },
    open: async (url: string) => this.add(url, 'New tab'),
    close: async (tabId: string) => {
      this.#tabs = this.#tabs.filter(({ id }) => id !== tabId);
      this.#changed();
    },
    attend: (tabId: string | undefined) => {
      const one = { tabId };
      this.attending.add(one);
      return () => void this.attending.delete(one);
    },
    answer: (tabId: string, number: number, answer: DialogAnswer) => {
      const tab = this.#tabs.find(({ id }) => id === tabId);
      if (tab?.dialog?.number !== number) return false;
      this.answers.push({ accept: answer.accept, text: answer.text });
      this.#put({ ...tab, dialog: undefined });
      return true;
    },
    restoreViewport: () => undefined,
    activate: async (tabId: string) => void this.asked.push(`activate ${tabId}`),
  };

  /** A tab is opened: `tab-0`, `tab-1` … */
  add(url: string, title: string): Tab {
    const number = this.#opened++;
    const tab = { id: `tab-${number}`, number, title, url, cdpSession: `session-${number}`, dialog: undefined };
    this.#tabs = [...this.#tabs, tab];
    this.#changed();
    return tab;
  }

  /** A tab asks. */
  ask(number: number, dialog: Dialog): void {
    const tab = this.#tabs.find((one) => one.number === number);
    if (tab) this.#put({ ...tab, dialog });
  }

  #put(tab: Tab): void {
    this.#tabs = this.#tabs.map((one) => (one.id === tab.id ? tab : one));
    this.#changed();
  }

  /** Takes a picture of a tab for all that watch it. */
  take(number: number, jpeg: Buffer = Buffer.from(`picture of ${number}`)): void {
    for (const { tabId, listener } of this.watches)
      if (tabId === `tab-${number}`) listener({ jpeg, atMs: Date.now(), ...this.viewport });
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
