import { setTimeout as sleep } from 'node:timers/promises';
import type { ProviderFailure } from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import { providerFailure } from '../../../domain/review/browser-sessions/provider-failure-rules.ts';
import { within } from '../../../domain/kernel/queues/within.ts';
import { type Cdp, CdpError } from '../chromium/browser.ts';
import { isFrontDoor } from './cdp-rules.ts';

const NAVIGATE_MAX_MS = 45_000;
/** How long a front door that has loaded takes to lead on. */
const LEAD_ON_MS = 5_000;
/** A page behind the door that goes nowhere for so long after it has loaded is the one that was led to. */
const SETTLE_MS = 300;
/** How long the pages behind the door may take to load, and to lead on to each other. */
const SETTLE_MAX_MS = 5_000;
/** Shorter values of an address stand in others by chance. */
const SECRET_MIN = 8;
const FORGET_TRIES = 20;
const FORGET_PAUSE_MS = 100;
const AFTER_CRASH_MS = 200;
const CRASHED = 'its tab crashed';
/** What comes of a navigation whose tab crashes: which of the two depends on how far it was. */
const MAY_HAVE_CRASHED = new Set([CRASHED, 'net::ERR_ABORTED']);
const BLANK = 'about:blank';

type Outcome = 'passed' | 'refused' | 'unreachable';
type TabCdp = Pick<Cdp, 'send' | 'onEvent' | 'closed'>;

/** What `Page.frameNavigated` says. */
interface Frame {
  id: string;
  parentId?: string;
  url: string;
  /** `#part`, which `url` is without. */
  urlFragment?: string;
  unreachableUrl?: string;
}

/**
 * Opens the first page in a tab, and waits until the address of the front door, a secret, stands in it no more: neither as its
 * address, nor in its history, nor as that of the page before. A tab that crashes meanwhile is sent there once more, since
 * to reload it would show the empty page that it began with. Rejects with `CdpError` when the browser is gone.
 * @param session of the protocol, attached to the tab; its `Page` events are enabled.
 * @param pace of the waits for a page that may lead on; less than 1 for browsers that are simulated.
 */
export async function openFirstPage(
  cdp: TabCdp,
  session: string,
  url: URL,
  signal: AbortSignal,
  pace = 1,
): Promise<ProviderFailure | null> {
  const aborted = Promise.withResolvers<'aborted'>();
  const abort = () => aborted.resolve('aborted');
  signal.addEventListener('abort', abort, { once: true });
  try {
    const opened = async (): Promise<string> => {
      // Before it may crash: a tab that did answers only what the browser itself does.
      await cdp.send('Inspector.enable', {}, session);
      const outcome = await openOnce(cdp, session, url, pace);
      if (!MAY_HAVE_CRASHED.has(outcome)) return outcome;
      // The host reloads a tab that crashed; what is asked for last counts.
      await sleep(AFTER_CRASH_MS);
      return openOnce(cdp, session, url, pace);
    };
    const lost = cdp.closed.then((): never => {
      throw new CdpError('The browser is gone');
    });
    const outcome = await Promise.race([
      within(NAVIGATE_MAX_MS, opened(), () => 'it took too long'),
      aborted.promise,
      lost,
    ]);
    if (outcome === 'passed') {
      await forgetHistory(cdp, session);
      return null;
    }
    return failureOf(outcome);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function failureOf(outcome: string): ProviderFailure {
  if (outcome === 'aborted') return providerFailure('unavailable', 'Nobody waits for the browser any more');
  if (outcome === 'unreachable')
    return providerFailure('navigation_failed', 'The page to which the front door leads cannot be reached');
  if (outcome === 'refused')
    return providerFailure('front_door_refused', 'The org did not let the browser in: its front door led nowhere');
  return providerFailure('navigation_failed', `The page did not load: ${outcome.slice(0, 100)}`);
}

/** Goes through the front door to the page behind it; answers an outcome, or why the page did not load. */
async function openOnce(cdp: TabCdp, session: string, url: URL, pace: number): Promise<string> {
  const steps = new Steps(cdp, session, url, pace);
  const crashed = Promise.withResolvers<string>();
  const stop = cdp.onEvent(session, (method) => {
    if (method === 'Inspector.targetCrashed') crashed.resolve(CRASHED);
  });
  const opened = async (): Promise<string> => {
    const { errorText } = await cdp.send('Page.navigate', { url: url.href }, session);
    if (typeof errorText === 'string' && errorText !== '') return errorText;
    const outcome = await steps.passed;
    return outcome === 'passed' && url.search !== '' ? comeAnew(cdp, session, steps.url) : outcome;
  };
  try {
    return await Promise.race([opened(), crashed.promise]);
  } finally {
    stop();
    steps.stop();
  }
}

/** Comes to a page once more, from an empty one: a page knows the address of the one that led to it. */
async function comeAnew(cdp: TabCdp, session: string, url: string): Promise<string> {
  const left = await arriveAt(cdp, session, { url: BLANK });
  if (left !== 'passed') return left;
  // An empty page leads nowhere: nothing keeps the history from being forgotten.
  await forgetHistory(cdp, session);
  return arriveAt(cdp, session, { url, referrerPolicy: 'noReferrer' });
}

/** A page that has just come in another process refuses that for a moment. */
async function forgetHistory(cdp: TabCdp, session: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await cdp.send('Page.resetNavigationHistory', {}, session);
      return;
    } catch (error) {
      if (!(error instanceof CdpError) || tries >= FORGET_TRIES) throw error;
      await sleep(FORGET_PAUSE_MS);
    }
  }
}

async function arriveAt(
  cdp: TabCdp,
  session: string,
  params: { url: string; referrerPolicy?: 'noReferrer' },
): Promise<string> {
  const { promise: arrived, resolve } = Promise.withResolvers<Outcome>();
  const stop = cdp.onEvent(session, (method, { frame }) => {
    if (method !== 'Page.frameNavigated') return;
    const { parentId, url, unreachableUrl } = frame as Frame;
    // The page that is left may still lead on.
    if (parentId !== undefined || (url === BLANK) !== (params.url === BLANK)) return;
    resolve(unreachableUrl === undefined ? 'passed' : 'unreachable');
  });
  try {
    const { errorText } = await cdp.send('Page.navigate', params, session);
    return typeof errorText === 'string' && errorText !== '' ? errorText : await arrived;
  } finally {
    stop();
  }
}

/** What a tab goes through on its way past the front door. */
class Steps {
  readonly passed: Promise<Outcome>;
  /** Where it is. */
  url = BLANK;
  readonly #door: URL;
  readonly #pace: number;
  readonly #resolve: (outcome: Outcome) => void;
  readonly #stopListening: () => void;
  #frameId: unknown;
  #isLoaded = false;
  #isAtDoor = true;
  #settledByMs = Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(cdp: Pick<Cdp, 'onEvent'>, session: string, door: URL, pace: number) {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.passed = promise;
    this.#resolve = resolve;
    this.#door = door;
    this.#pace = pace;
    this.#stopListening = cdp.onEvent(session, (method, params) => {
      if (method === 'Page.frameNavigated') this.#show(params.frame as Frame);
      else if (method === 'Page.navigatedWithinDocument' && params.frameId === this.#frameId)
        this.#become(String(params.url));
      else if (method === 'Page.loadEventFired' && this.#frameId !== undefined) {
        this.#isLoaded = true;
        this.#wait();
      }
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stopListening();
  }

  #show({ id, parentId, url, urlFragment = '', unreachableUrl }: Frame): void {
    if (parentId !== undefined || url === BLANK) return;
    if (unreachableUrl !== undefined) return this.#resolve('unreachable');
    this.#frameId = id;
    this.#isLoaded = false;
    this.#become(`${url}${urlFragment}`);
  }

  #become(url: string): void {
    this.url = url;
    this.#isAtDoor = isAtDoor(url, this.#door);
    this.#settledByMs = this.#isAtDoor
      ? Infinity
      : Math.min(this.#settledByMs, performance.now() + SETTLE_MAX_MS * this.#pace);
    this.#wait();
  }

  #wait(): void {
    clearTimeout(this.#timer);
    if (!this.#isAtDoor) {
      const leftMs = this.#settledByMs - performance.now();
      const waitMs = this.#door.search === '' ? 0 : this.#isLoaded ? Math.min(SETTLE_MS * this.#pace, leftMs) : leftMs;
      this.#timer = setTimeout(() => this.#resolve('passed'), Math.max(0, waitMs));
    } else if (this.#isLoaded) this.#timer = setTimeout(() => this.#resolve('refused'), LEAD_ON_MS * this.#pace);
  }
}

/** Whether an address is that of the door, or of another door that it leads to: it holds the same secret. */
function isAtDoor(address: string, door: URL): boolean {
  if (door.search === '') return false;
  if (address === door.href || isFrontDoor(address)) return true;
  const shown = [...(URL.parse(address)?.searchParams.values() ?? [])];
  const secrets = [...door.searchParams.values()].filter((value) => value.length >= SECRET_MIN && !isPlace(value));
  return secrets.some((secret) => shown.some((value) => value.includes(secret)));
}

/** Where a door is to lead is no secret, and stands in the addresses behind it. */
const isPlace = (value: string): boolean => /^(?:\/|https?:)/i.test(value);
