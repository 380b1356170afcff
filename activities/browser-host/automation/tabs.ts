import type { Viewport } from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import type { TimelineEntry } from '../../../domain/review/browser-sessions/session-changes.queries.ts';
import { within } from '../../../domain/kernel/queues/within.ts';
import { type Cdp, CdpError, type DialogAnswer, type Picture, type Tab, type Tabs } from '../chromium/browser.ts';
import { OpenTab } from './open-tab.ts';

export const TABS_MAX = 10;
const OPEN_MAX_MS = 10_000;
/** Titles that pages set later are told to nobody. */
const TITLES_EVERY_MS = 1_000;
const ONLY_PAGES = [{ type: 'page', exclude: false }, { exclude: true }];

interface TargetInfo {
  targetId: string;
  type: string;
  subtype?: string;
  title: string;
  url: string;
}

export interface TabsOptions {
  viewport: Viewport;
  /** Something for the timeline of the session. Never an address. */
  onNote: (entry: TimelineEntry) => void;
  /** The last tab was closed, by its page or by somebody. */
  onNoneLeft: () => void;
}

/** The tabs of a browser: at most 10, each attached to before its page runs. */
export class BrowserTabs implements Tabs {
  readonly #cdp: Cdp;
  readonly #options: TabsOptions;
  readonly #tabs = new Map<string, OpenTab>();
  readonly #listeners = new Set<() => void>();
  /** People who answer dialogs, each with the tab that they attend to; undefined: every tab. */
  readonly #attending = new Set<{ tabId: string | undefined }>();
  #opened = 0;
  #isEnding = false;

  /** Resolves when the tabs that the browser has are known. Rejects with `CdpError`. */
  static async of(cdp: Cdp, options: TabsOptions): Promise<BrowserTabs> {
    const tabs = new BrowserTabs(cdp, options);
    await cdp.send('Target.setDiscoverTargets', { discover: true, filter: ONLY_PAGES });
    await cdp.send('Target.setAutoAttach', {
      autoAttach: true,
      waitForDebuggerOnStart: true,
      flatten: true,
      filter: ONLY_PAGES,
    });
    return tabs;
  }

  private constructor(cdp: Cdp, options: TabsOptions) {
    this.#cdp = cdp;
    this.#options = options;
    cdp.onEvent(undefined, (method, params) => this.#hear(method, params));
    const asking = setInterval(() => this.#askTitles(), TITLES_EVERY_MS);
    void cdp.closed.finally(() => {
      clearInterval(asking);
      this.#isEnding = true;
      for (const tab of this.#tabs.values()) tab.close();
    });
  }

  list(): readonly Tab[] {
    return [...this.#tabs.values()];
  }

  onChange(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  watch(tabId: string, maxPerSecond: number, listener: (picture: Picture) => void): () => void {
    return this.#tabs.get(tabId)?.screencast.watch(maxPerSecond, listener) ?? (() => undefined);
  }

  async open(url: string): Promise<Tab> {
    if (!/^(https?:\/\/|about:blank$)/i.test(url)) throw new CdpError('Only http and https addresses are opened');
    if (this.#tabs.size >= TABS_MAX) throw new CdpError(`There are ${TABS_MAX} tabs already`);
    const { targetId } = await this.#cdp.send('Target.createTarget', { url });
    const attached = Promise.withResolvers<Tab>();
    const look = () => {
      const tab = this.#tabs.get(targetId as string);
      if (tab) attached.resolve(tab);
    };
    const stop = this.onChange(look);
    look();
    try {
      return await within(OPEN_MAX_MS, attached.promise, () => {
        throw new CdpError('The tab was not opened in time');
      });
    } finally {
      stop();
    }
  }

  async close(tabId: string): Promise<void> {
    await this.#cdp.send('Target.closeTarget', { targetId: tabId });
  }

  attend(tabId: string | undefined): () => void {
    const one = { tabId };
    this.#attending.add(one);
    return () => {
      if (this.#attending.delete(one)) for (const tab of this.#tabs.values()) tab.attendanceChanged();
    };
  }

  answer(tabId: string, number: number, answer: DialogAnswer): boolean {
    return this.#tabs.get(tabId)?.answer(number, answer) ?? false;
  }

  restoreViewport(tabId: string): void {
    this.#tabs.get(tabId)?.restoreViewport();
  }

  async activate(tabId: string): Promise<void> {
    await this.#cdp.send('Target.activateTarget', { targetId: tabId });
  }

  #hear(method: string, params: Record<string, unknown>): void {
    if (method === 'Target.attachedToTarget') {
      const { sessionId, targetInfo } = params as unknown as { sessionId: string; targetInfo: TargetInfo };
      this.#attached(sessionId, targetInfo);
    } else if (method === 'Target.targetInfoChanged') {
      this.#learn([params.targetInfo as TargetInfo]);
    } else if (method === 'Target.targetCrashed') this.#tabs.get(params.targetId as string)?.crashed();
    else if (method === 'Target.targetDestroyed') this.#destroyed(params.targetId as string);
  }

  #attached(session: string, { targetId, type, subtype, title, url }: TargetInfo): void {
    // A page that is rendered in advance is a tab only when it is shown; those of chrome: are parts of the browser's window.
    if (type !== 'page' || this.#tabs.has(targetId) || (subtype ?? '') !== '' || url.startsWith('chrome:'))
      return this.#letRun(session);
    if (this.#tabs.size >= TABS_MAX) {
      this.#ask('Target.closeTarget', { targetId });
      this.#options.onNote({ kind: 'tab_refused', summary: `A tab was closed: there were ${TABS_MAX} already` });
      return;
    }
    const { viewport, onNote } = this.#options;
    const tab = new OpenTab(this.#cdp, {
      id: targetId,
      number: this.#opened++,
      session,
      viewport,
      onNote,
      isAttended: () => [...this.#attending].some(({ tabId }) => tabId === undefined || tabId === targetId),
      onDialog: () => this.#changed(),
    });
    tab.become(title, url);
    this.#tabs.set(targetId, tab);
    tab.prepare();
    this.#letRun(session);
    this.#changed();
  }

  #learn(targets: readonly TargetInfo[]): void {
    const changed = targets.filter(({ targetId, title, url }) => this.#tabs.get(targetId)?.become(title, url));
    if (changed.length > 0) this.#changed();
  }

  #askTitles(): void {
    this.#cdp
      .send('Target.getTargets', { filter: ONLY_PAGES })
      .then(({ targetInfos }) => this.#learn(targetInfos as TargetInfo[]), onlyGone);
  }

  #destroyed(targetId: string): void {
    const tab = this.#tabs.get(targetId);
    if (!tab) return;
    tab.close();
    this.#tabs.delete(targetId);
    this.#changed();
    if (this.#tabs.size > 0 || this.#isEnding) return;
    this.#isEnding = true;
    this.#options.onNoneLeft();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #letRun(session: string): void {
    this.#ask('Runtime.runIfWaitingForDebugger', {}, session);
  }

  /** Sends a command to a tab that may be gone by now, and ignores the answer. */
  #ask(method: string, params: object, session?: string): void {
    this.#cdp.send(method, params, session).catch(onlyGone);
  }
}

const onlyGone = (error: unknown): void => {
  if (!(error instanceof CdpError)) throw error;
};
