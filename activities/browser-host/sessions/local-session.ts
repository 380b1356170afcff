import {
  type ProviderFailure,
  type ProviderSession,
  type SessionOrder,
  StartRefused,
} from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import type { Isolation } from '../../../domain/kernel/settings/isolation-rules.ts';
import { hostsOfOrg } from '../../../domain/projects/environments/org-host-rules.ts';
import { providerFailure } from '../../../domain/review/browser-sessions/provider-failure-rules.ts';
import type { TimelineEntry } from '../../../domain/review/browser-sessions/session-changes.queries.ts';
import { type BrowserEnd, CdpError, type SessionBrowser, type RunningBrowser } from '../chromium/browser.ts';
import { egressEntry } from '../egress/egress-entry.ts';
import { openFirstPage } from '../automation/first-page.ts';
import { BrowserTabs } from '../automation/tabs.ts';

/** Most notes of one session, beside what its end adds. */
const NOTES_MAX = 50;

/** What is being recorded of a browser. */
export interface Recording {
  /** Ends it; resolves when all of it is stored, or given up. */
  finish(): Promise<void>;
}

export interface SessionParts {
  /** A browser that nobody else has; rejects with `ChromiumStartError`. */
  takeBrowser: () => Promise<RunningBrowser>;
  /** Undefined: nothing is recorded here. */
  startRecorder: ((browser: SessionBrowser) => Recording) | undefined;
  /** Writes to the timeline of the session; never rejects. */
  note: (entry: TimelineEntry) => void;
}

/**
 * A browser from its order to its end: allocated when its first page shows, ended when its time is up or by whatever else
 * ends it before that, and gone when no process and no file of it is left.
 */
export class LocalSession {
  readonly order: SessionOrder;
  /**
   * Answers what kept it from being allocated; null: it is allocated. Rejects with what `startUrl` did; it is gone then, as
   * after a failure.
   */
  readonly allocated: Promise<ProviderFailure | null>;
  /** Resolves when nothing of it runs any more. */
  readonly gone: Promise<void>;
  /** Resolves when what was recorded is stored, or given up. */
  readonly recorded: Promise<void>;
  readonly #parts: SessionParts;
  readonly #abort = new AbortController();
  readonly #ending = Promise.withResolvers<BrowserEnd>();
  readonly #gone = Promise.withResolvers<void>();
  readonly #recorded = Promise.withResolvers<void>();
  #browser: RunningBrowser | undefined;
  #view: SessionBrowser | undefined;
  #recorder: Recording | undefined;
  #end: BrowserEnd | undefined;
  #expiresAt: Date;
  #expiry: NodeJS.Timeout | undefined;
  #notes = 0;

  constructor(order: SessionOrder, parts: SessionParts) {
    this.order = order;
    this.#parts = parts;
    this.#expiresAt = order.expiresAt;
    this.gone = this.#gone.promise;
    this.recorded = this.#recorded.promise;
    this.allocated = this.#allocate();
    this.allocated.catch(() => undefined);
    this.keepUntil(order.expiresAt);
  }

  /** The browser past its front door, until its end. */
  get view(): SessionBrowser | undefined {
    return this.#end ? undefined : this.#view;
  }

  get state(): ProviderSession {
    return this.#end ? { state: 'ended', ...this.#end } : { state: this.#view ? 'running' : 'starting' };
  }

  /** Undefined: no browser has started for it. */
  get isolation(): Isolation | undefined {
    return this.#browser?.isolation;
  }

  /** It ends then, or at the cap, whoever is away at that time. */
  keepUntil(expiresAt: Date): void {
    if (this.#end) return;
    this.#expiresAt = new Date(Math.min(expiresAt.getTime(), this.order.capAt.getTime()));
    clearTimeout(this.#expiry);
    const leftMs = Math.max(0, this.#expiresAt.getTime() - Date.now());
    this.#expiry = setTimeout(() => this.end({ reason: 'expired', detail: null }), leftMs);
  }

  /** Ends it; repeating that is fine, the first reason stays. */
  end(end: BrowserEnd): void {
    if (this.#end) return;
    this.#end = end;
    clearTimeout(this.#expiry);
    this.#abort.abort();
    this.#ending.resolve(end);
    this.#browser?.kill(end);
    this.#finishRecording();
  }

  #finishRecording(): void {
    const finished = this.#recorder?.finish() ?? Promise.resolve();
    finished.then(this.#recorded.resolve, this.#recorded.resolve);
  }

  async #allocate(): Promise<ProviderFailure | null> {
    try {
      const failure = await this.#show();
      if (failure) await this.#giveUp();
      return failure;
    } catch (error) {
      await this.#giveUp();
      if (error instanceof StartRefused) return providerFailure('front_door_refused', error.message);
      if (error instanceof CdpError) return providerFailure('unavailable', error.message);
      throw error;
    }
  }

  async #giveUp(): Promise<void> {
    this.end({ reason: 'cancelled', detail: null });
    if (!this.#browser) this.#gone.resolve();
    await this.gone;
  }

  async #show(): Promise<ProviderFailure | null> {
    const { order } = this;
    // The org opens its door while the browser starts.
    const opening = order.startUrl();
    opening.catch(() => undefined);
    const browser = await this.#parts.takeBrowser();
    this.#browser = browser;
    void browser.ended.then((end) => this.#browserHasEnded(end, browser));
    if (this.#end) {
      browser.kill(this.#end);
      return providerFailure('unavailable', 'The session ended before its browser had started');
    }
    const tabs = await BrowserTabs.of(browser.cdp, {
      viewport: order.viewport,
      onNote: (entry) => this.#note(entry),
      onNoneLeft: () => this.end({ reason: 'browser_closed', detail: null }),
    });
    const [tab] = tabs.list();
    if (!tab) return providerFailure('unavailable', 'The browser has no tab');
    const url = await opening;
    browser.allow([...hostsOfOrg(url.hostname), ...order.allowedHosts]);
    const failure = await openFirstPage(browser.cdp, tab.cdpSession, url, this.#abort.signal);
    if (failure) return failure;
    if (this.#end) return providerFailure('unavailable', 'The browser ended while its first page came');
    const { sessionId, tenantId, projectId, viewport, isRecorded } = order;
    this.#view = {
      owner: { sessionId, tenantId, projectId },
      viewport,
      isRecorded: isRecorded && this.#parts.startRecorder !== undefined,
      expiresAt: () => this.#expiresAt,
      cdp: browser.cdp,
      tabs,
      ending: this.#ending.promise,
    };
    if (isRecorded) this.#recorder = this.#parts.startRecorder?.(this.#view);
    return null;
  }

  #browserHasEnded(end: BrowserEnd, { egress }: RunningBrowser): void {
    this.end(end);
    this.#parts.note(egressEntry(egress));
    this.#gone.resolve();
  }

  #note(entry: TimelineEntry): void {
    if (++this.#notes <= NOTES_MAX) this.#parts.note(entry);
  }
}
