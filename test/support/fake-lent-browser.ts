import type { BrowserEnd, CdpMessage, LentBrowser, Picture, Tab } from '../../activities/browser-host/browser.ts';
import { newId } from '../../domain/shared/ids.ts';

interface Watch {
  tabId: string;
  maxPerSecond: number;
  listener: (picture: Picture) => void;
}

/** A browser that is none: its tabs are a list, and a test takes the pictures. */
export class FakeLentBrowser implements LentBrowser {
  readonly owner;
  readonly viewport = { width: 1_280, height: 720 };
  readonly isRecorded = true;
  /** What was asked of the browser, except for keys and the mouse. */
  readonly asked: string[] = [];
  /** Keys, mouse and texts, in order. */
  readonly input: { method: string; params: Record<string, unknown>; tab: string | undefined }[] = [];
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
    activate: async (tabId: string) => void this.asked.push(`activate ${tabId}`),
  };

  /** A tab is opened: `tab-0`, `tab-1` … */
  add(url: string, title: string): Tab {
    const number = this.#opened++;
    const tab = { id: `tab-${number}`, number, title, url, cdpSession: `session-${number}` };
    this.#tabs = [...this.#tabs, tab];
    this.#changed();
    return tab;
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
