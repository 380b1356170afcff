import type { SessionOwner, Viewport } from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import type { Isolation } from '../../../domain/kernel/settings/isolation-rules.ts';
import type { DialogKind } from '../../../domain/review/browser-sessions/live/dialog-rules.ts';
import type { StatusReason } from '../../../domain/review/browser-sessions/session-rules.ts';

/** A message of the Chrome DevTools Protocol, in either direction. */
export interface CdpMessage {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code?: number; message?: string };
  /** The session of the protocol that it belongs to; absent: the browser itself. */
  sessionId?: string;
}

/** The browser refused a command, or is gone. */
export class CdpError extends Error {}

/** The only connection to a browser, shared by all that ask something of it. */
export interface Cdp {
  /** Answers what the browser does. Rejects with `CdpError`. */
  send(method: string, params?: object, sessionId?: string): Promise<Record<string, unknown>>;
  /** Calls back with each event of a session of the protocol, undefined: of the browser; the answer ends that. */
  onEvent(
    sessionId: string | undefined,
    listener: (method: string, params: Record<string, unknown>) => void,
  ): () => void;
  /**
   * Sends a message as it is, with an id of the connection's own, and answers the reply with that id; an error of the
   * browser is part of it. Rejects with `CdpError` when the browser is gone. For clients that speak the protocol.
   */
  pass(message: CdpMessage): Promise<CdpMessage>;
  /** Calls back with every event, whatever its session; the answer ends that. For clients that speak the protocol. */
  onAnyEvent(listener: (message: CdpMessage) => void): () => void;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
}

export interface BrowserEnd {
  reason: StatusReason;
  /** For people. */
  detail: string | null;
}

/** What went through the one way out of a browser. */
export interface EgressCounts {
  connections: number;
  bytes: number;
  /** Connections by host name, refused ones apart; at most 200 names each. */
  allowed: ReadonlyMap<string, number>;
  refused: ReadonlyMap<string, number>;
}

/** A Chromium with all its processes, its profile and its way out. */
export interface RunningBrowser {
  readonly cdp: Cdp;
  readonly isolation: Isolation;
  /** Process id of Chromium's first process. */
  readonly pid: number;
  readonly egress: EgressCounts;
  /** Host names that may be reached from now on beside none: those of the order, and that of its first page. */
  allow(hosts: readonly string[]): void;
  /** Resolves when no process of it is left, and its files are removed. */
  readonly ended: Promise<BrowserEnd>;
  /** Ends all processes of it; repeating that is fine. `end` is what `ended` answers, unless it had ended by itself. */
  kill(end: BrowserEnd): void;
}

/** A dialog by which a page asks, and is held up until it is answered. */
export interface Dialog {
  /** Number of the dialog in its tab, from 1 on. */
  readonly number: number;
  readonly kind: DialogKind;
  readonly message: string;
  /** What the page proposes to answer a prompt with. */
  readonly proposal: string;
}

export interface DialogAnswer {
  /** False: dismissed. */
  accept: boolean;
  /** For a prompt that is accepted. */
  text?: string | undefined;
}

/** A tab. */
export interface Tab {
  /** Id of the tab's target in the Chrome DevTools Protocol. */
  readonly id: string;
  /** From 0 on, in the order in which they were opened. */
  readonly number: number;
  readonly title: string;
  readonly url: string;
  /** A session of the protocol that is attached to it. */
  readonly cdpSession: string;
  /** That waits for an answer of those who attend to it. */
  readonly dialog: Dialog | undefined;
}

/** A picture of a tab. */
export interface Picture {
  jpeg: Buffer;
  /** When it was taken, in milliseconds since the epoch. */
  atMs: number;
  /** In CSS pixels. */
  width: number;
  height: number;
}

/** The tabs of a browser, and pictures of them. */
export interface Tabs {
  list(): readonly Tab[];
  /** Calls back when a tab was opened, closed, renamed or navigated, and when it asks or was answered; the answer ends that. */
  onChange(listener: () => void): () => void;
  /**
   * Pictures of a tab until the answer is called, at most so many a second, the latest one at once. Pictures are taken
   * only while somebody wants them, as often as the fastest wish; a page that does not change has none.
   */
  watch(tabId: string, maxPerSecond: number, listener: (picture: Picture) => void): () => void;
  open(url: string): Promise<Tab>;
  close(tabId: string): Promise<void>;
  /** Somebody is there who answers the dialogs of a tab, undefined: of every tab, until the answer is called. */
  attend(tabId: string | undefined): () => void;
  /** Answers the dialog of a tab; false: the one of that number is not open any more. */
  answer(tabId: string, number: number, answer: DialogAnswer): boolean;
  /** Gives a tab the viewport of its session again, of which a client of the protocol has made another one. */
  restoreViewport(tabId: string): void;
  /** Brings it to the front: only there do pages get focus. */
  activate(tabId: string): Promise<void>;
}

/** A browser of a live session. */
export interface SessionBrowser {
  readonly owner: SessionOwner;
  readonly viewport: Viewport;
  readonly isRecorded: boolean;
  /** When it ends. */
  expiresAt(): Date;
  readonly cdp: Cdp;
  readonly tabs: Tabs;
  /** Resolves when it ends, before its processes are gone. */
  readonly ending: Promise<BrowserEnd>;
}

/** The browsers that a host has allocated and that are live: past the front door. */
export interface SessionBrowsers {
  find(sessionId: string): SessionBrowser | undefined;
}
