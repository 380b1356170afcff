import type { LiveViewer } from '../../../domain/review/browser-sessions/live/live-viewer-rules.ts';
import type { BrowserEnd, SessionBrowser, Picture, Tab } from '../chromium/browser.ts';
import { InputQueue } from './input-queue.ts';
import type { HostMessage, ViewerMessage } from './live-protocol.ts';
import { steer } from './steering.ts';

const PICTURES_PER_SECOND = 25;
const TIME_EVERY_MS = 1_000;
/** How often one viewer may take control in a minute: each time is audited. */
const TAKES_PER_MINUTE = 10;
const MINUTE_MS = 60_000;
/** Pages choose both, and may change them without end. */
const URL_MAX = 2_000;
const TITLE_MAX = 300;

/** How a viewer is reached. Nothing of it waits, and nothing throws. */
export interface ViewerConnection {
  tell(message: HostMessage): void;
  show(tab: number, picture: Picture): void;
  /** Another tab is shown from now on. */
  forget(): void;
  end(): void;
  readonly picturesPerSecond?: number;
}

/** Somebody who watches. */
export interface Member {
  receive(message: ViewerMessage): void;
  leave(): void;
}

interface Joined {
  id: number;
  viewer: LiveViewer;
  connection: ViewerConnection;
  /** Undefined: the tab that is worked in. */
  chosen: number | undefined;
  shown: number | undefined;
  stop: () => void;
  takenAt: number[];
}

export interface RoomOptions {
  /** Somebody took control, from somebody else or from nobody. False: it could not be noted, and is taken back. */
  onControl: (viewer: LiveViewer, previous: LiveViewer | undefined) => Promise<boolean>;
  /** The last one left, or the browser has ended. */
  onEmpty: () => void;
}

/** The people who watch one browser. Many watch, one controls; those who chose no tab see the one that is worked in. */
export class LiveRoom {
  readonly #browser: SessionBrowser;
  readonly #options: RoomOptions;
  readonly #joined = new Map<number, Joined>();
  readonly #input: InputQueue;
  #lastId = 0;
  #controller: Joined | undefined;
  #front: number | undefined;
  #newest = -1;
  /** What everybody was told last, by type. */
  readonly #told = new Map<HostMessage['type'], string>();
  /** The one who controls is there to answer dialogs. */
  #leaveDialogs: () => void = () => undefined;
  #expiresAtMs = 0;
  readonly #stopTabs: () => void;
  readonly #clock: NodeJS.Timeout;

  constructor(browser: SessionBrowser, options: RoomOptions) {
    this.#browser = browser;
    this.#options = options;
    this.#input = new InputQueue(browser, () => this.#frontTab());
    this.#expiresAtMs = browser.expiresAt().getTime();
    this.#told.set('dialogs', JSON.stringify(this.#dialogs()));
    this.#followTabs();
    this.#stopTabs = browser.tabs.onChange(() => {
      this.#followTabs();
      this.#tellChanges();
      for (const joined of this.#joined.values()) this.#showTab(joined);
    });
    this.#clock = setInterval(() => this.#tellNewTime(), TIME_EVERY_MS);
    this.#clock.unref();
  }

  get size(): number {
    return this.#joined.size;
  }

  join(viewer: LiveViewer, connection: ViewerConnection): Member {
    const id = ++this.#lastId;
    const joined: Joined = {
      id,
      viewer,
      connection,
      chosen: undefined,
      shown: undefined,
      stop: () => undefined,
      takenAt: [],
    };
    this.#joined.set(id, joined);
    const { viewport, isRecorded } = this.#browser;
    connection.tell({ type: 'welcome', you: id, mayControl: viewer.may === 'control', isRecorded, viewport });
    connection.tell(this.#time());
    connection.tell(this.#tabs());
    connection.tell(this.#dialogs());
    this.#tellPeople();
    this.#showTab(joined);
    return { receive: (message) => this.#receive(joined, message), leave: () => this.#leave(joined) };
  }

  /** The browser has ended: everybody is told why, and let go. */
  end({ reason, detail }: BrowserEnd): void {
    this.#tellAll({ type: 'end', reason, detail });
    this.close();
  }

  /** Lets everybody go. */
  close(): void {
    clearInterval(this.#clock);
    this.#stopTabs();
    this.#leaveDialogs();
    for (const { stop, connection } of this.#joined.values()) {
      stop();
      connection.end();
    }
    this.#joined.clear();
    this.#options.onEmpty();
  }

  #leave(joined: Joined): void {
    if (!this.#joined.delete(joined.id)) return;
    joined.stop();
    if (this.#controller === joined) this.#release();
    if (this.#joined.size === 0) this.close();
    else this.#tellPeople();
  }

  #receive(joined: Joined, message: ViewerMessage): void {
    if (!this.#joined.has(joined.id)) return;
    if (message.type === 'seen') return;
    if (message.type === 'watch') {
      this.#choose(joined, message.tab ?? undefined);
      return;
    }
    if (message.type === 'control') {
      if (message.take) this.#take(joined);
      else if (this.#controller === joined) {
        this.#release();
        this.#tellPeople();
      }
      return;
    }
    if (this.#controller !== joined) {
      // A key that was on its way while somebody else took over is no reason to say anything.
      if (!isInput(message)) notice(joined, 'Take control first');
      return;
    }
    if (isInput(message)) {
      if (!this.#input.send(message)) notice(joined, 'The page does not answer: what you typed was not passed on');
    } else if (message.type === 'answer') {
      const tab = this.#tabOf(message.tab);
      if (!tab || !this.#browser.tabs.answer(tab.id, message.dialog, message))
        notice(joined, 'The dialog was answered already');
    } else void doing(joined, steer(this.#browser, this.#frontTab(), message));
  }

  #choose(joined: Joined, tab: number | undefined): void {
    const isThere = tab === undefined || this.#tabOf(tab) !== undefined;
    if (!isThere) return;
    if (this.#controller !== joined) joined.chosen = tab;
    else if (tab !== undefined) this.#bringToFront(joined, tab);
    this.#showTab(joined, true);
  }

  #take(joined: Joined): void {
    if (joined.viewer.may !== 'control') {
      notice(joined, 'You may watch, but not control this browser');
      return;
    }
    if (this.#controller === joined) return;
    const now = Date.now();
    joined.takenAt = joined.takenAt.filter((at) => now - at < MINUTE_MS);
    if (joined.takenAt.length >= TAKES_PER_MINUTE) {
      notice(joined, 'You took control too often: wait a minute');
      return;
    }
    joined.takenAt.push(now);
    const previous = this.#controller;
    // Before the other one leaves them, so that a dialog waits on.
    const leaveDialogs = this.#browser.tabs.attend(undefined);
    this.#release();
    this.#controller = joined;
    this.#leaveDialogs = leaveDialogs;
    joined.chosen = undefined;
    if (previous) notice(previous, `${joined.viewer.name} has taken control`);
    // What was shown is what is worked in from now on.
    if (joined.shown !== undefined) this.#bringToFront(joined, joined.shown);
    this.#showTab(joined, true);
    this.#tellPeople();
    void this.#keepIfNoted(joined, previous?.viewer);
  }

  async #keepIfNoted(joined: Joined, previous: LiveViewer | undefined): Promise<void> {
    if ((await this.#options.onControl(joined.viewer, previous)) || this.#controller !== joined) return;
    this.#release();
    notice(joined, 'You do not control it: that could not be noted. Try again later');
    this.#tellPeople();
  }

  /** What the one who controlled still held down is let go. */
  #release(): void {
    this.#input.letGo();
    this.#controller = undefined;
    this.#leaveDialogs();
  }

  #bringToFront(joined: Joined, number: number): void {
    const tab = this.#tabOf(number);
    if (!tab) return;
    this.#input.letGo();
    this.#front = number;
    void doing(joined, this.#browser.tabs.activate(tab.id));
    this.#tellChanges();
    for (const one of this.#joined.values()) this.#showTab(one);
  }

  /** A tab that was opened is worked in from now on; in place of one that was closed, the newest. */
  #followTabs(): void {
    const tabs = this.#browser.tabs.list();
    const newest = Math.max(-1, ...tabs.map(({ number }) => number));
    if (newest > this.#newest) this.#front = newest;
    this.#newest = Math.max(newest, this.#newest);
    if (this.#front === undefined || !this.#tabOf(this.#front)) this.#front = newest < 0 ? undefined : newest;
    for (const joined of this.#joined.values())
      if (joined.chosen !== undefined && !this.#tabOf(joined.chosen)) joined.chosen = undefined;
  }

  #showTab(joined: Joined, isTold = false): void {
    const number = joined.chosen ?? this.#front;
    const tab = number === undefined ? undefined : this.#tabOf(number);
    const isOther = tab?.number !== joined.shown;
    if (isOther || isTold)
      joined.connection.tell({
        type: 'watching',
        tab: tab?.number ?? null,
        follows: joined.chosen === undefined,
      });
    if (!isOther) return;
    joined.stop();
    joined.connection.forget();
    joined.shown = tab?.number;
    joined.stop = () => undefined;
    if (!tab) return;
    const perSecond = joined.connection.picturesPerSecond ?? PICTURES_PER_SECOND;
    joined.stop = this.#browser.tabs.watch(tab.id, perSecond, (picture) => joined.connection.show(tab.number, picture));
  }

  #tabOf = (number: number): Tab | undefined => this.#browser.tabs.list().find((tab) => tab.number === number);
  #frontTab = (): Tab | undefined => (this.#front === undefined ? undefined : this.#tabOf(this.#front));

  #tabs(): HostMessage {
    const tabs = this.#browser.tabs.list().map(({ number, title, url }) => ({
      number,
      title: title.slice(0, TITLE_MAX),
      url: url.slice(0, URL_MAX),
    }));
    return { type: 'tabs', tabs, front: this.#front ?? null };
  }

  #dialogs(): HostMessage {
    const dialogs = this.#browser.tabs
      .list()
      .flatMap(({ number: tab, dialog }) => (dialog ? [{ tab, ...dialog }] : []));
    return { type: 'dialogs', dialogs };
  }

  /** Tells what the tabs show, and what their pages ask, where it is not what everybody was told last. */
  #tellChanges(): void {
    for (const message of [this.#tabs(), this.#dialogs()]) {
      const told = JSON.stringify(message);
      if (told === this.#told.get(message.type)) continue;
      this.#told.set(message.type, told);
      this.#tellAll(message);
    }
  }

  #time(): HostMessage {
    const expiresAt = new Date(this.#expiresAtMs).toISOString();
    return { type: 'time', expiresAt, leftMs: Math.max(0, Math.round(this.#expiresAtMs - Date.now())) };
  }

  #tellNewTime(): void {
    const expiresAtMs = this.#browser.expiresAt().getTime();
    if (expiresAtMs === this.#expiresAtMs) return;
    this.#expiresAtMs = expiresAtMs;
    this.#tellAll(this.#time());
  }

  #tellPeople(): void {
    const people = [...this.#joined.values()].map(({ id, viewer }) => ({ id, name: viewer.name }));
    this.#tellAll({ type: 'people', people, controller: this.#controller?.id ?? null });
  }

  #tellAll(message: HostMessage): void {
    for (const { connection } of this.#joined.values()) connection.tell(message);
  }
}

const INPUT = new Set(['mouse', 'wheel', 'key', 'compose', 'insert']);
type Input = Parameters<InputQueue['send']>[0];
const isInput = (message: ViewerMessage): message is Input => INPUT.has(message.type);

const notice = ({ connection }: Joined, text: string): void => connection.tell({ type: 'notice', text });

/** Says why something was not done. */
async function doing(joined: Joined, work: Promise<string | undefined | void>): Promise<void> {
  try {
    const refused = await work;
    if (typeof refused === 'string') notice(joined, refused);
  } catch {
    notice(joined, 'The browser did not do that');
  }
}
