import type { ProviderFailure } from '../../domain/browser-sessions/browser-provider.port.ts';
import { providerFailure } from '../../domain/browser-sessions/provider-failure-rules.ts';
import { within } from '../../domain/shared/within.ts';
import { type Cdp, CdpError } from './browser.ts';

const NAVIGATE_MAX_MS = 45_000;
/** How long a front door that has loaded takes to lead on. */
const LEAD_ON_MS = 5_000;

/**
 * Opens the first page in a tab, and waits until the address of the front door, a secret, stands in it no more: neither as its
 * address nor in its history. Rejects with `CdpError` when the browser is gone.
 * @param session of the protocol, attached to the tab; its `Page` events are enabled.
 */
export async function openFirstPage(
  cdp: Pick<Cdp, 'send' | 'onEvent' | 'closed'>,
  session: string,
  url: URL,
  signal: AbortSignal,
): Promise<ProviderFailure | null> {
  const steps = new Steps(cdp, session, url);
  const aborted = Promise.withResolvers<'aborted'>();
  const abort = () => aborted.resolve('aborted');
  signal.addEventListener('abort', abort, { once: true });
  try {
    const opened = async () => {
      const { errorText } = await cdp.send('Page.navigate', { url: url.href }, session);
      return typeof errorText === 'string' && errorText !== '' ? errorText : steps.passed;
    };
    const lost = cdp.closed.then((): never => {
      throw new CdpError('The browser is gone');
    });
    const outcome = await Promise.race([
      within(NAVIGATE_MAX_MS, opened(), () => 'it took too long'),
      aborted.promise,
      lost,
    ]);
    if (outcome === 'aborted') return providerFailure('unavailable', 'Nobody waits for the browser any more');
    if (outcome === 'unreachable')
      return providerFailure('navigation_failed', 'The page to which the front door leads cannot be reached');
    if (outcome === 'refused')
      return providerFailure('front_door_refused', 'The org did not let the browser in: its front door led nowhere');
    if (outcome !== 'passed')
      return providerFailure('navigation_failed', `The page did not load: ${outcome.slice(0, 100)}`);
    await cdp.send('Page.resetNavigationHistory', {}, session);
    return null;
  } finally {
    signal.removeEventListener('abort', abort);
    steps.stop();
  }
}

/** What a tab goes through on its way past the front door. */
class Steps {
  readonly passed: Promise<'passed' | 'refused' | 'unreachable'>;
  readonly #stopListening: () => void;
  #leadOn: NodeJS.Timeout | undefined;

  constructor(cdp: Pick<Cdp, 'onEvent'>, session: string, { href, search }: URL) {
    const { promise, resolve } = Promise.withResolvers<'passed' | 'refused' | 'unreachable'>();
    this.passed = promise;
    const isSecret = search !== '';
    let isAtDoor = false;
    this.#stopListening = cdp.onEvent(session, (method, params) => {
      if (method === 'Page.frameNavigated') {
        const { parentId, url, unreachableUrl } = params.frame as {
          parentId?: string;
          url: string;
          unreachableUrl?: string;
        };
        if (parentId !== undefined || url === 'about:blank') return;
        if (unreachableUrl !== undefined) return resolve('unreachable');
        isAtDoor = isSecret && url === href;
        if (!isAtDoor) resolve('passed');
      } else if (method === 'Page.navigatedWithinDocument' && params.url !== href) resolve('passed');
      else if (method === 'Page.loadEventFired' && isAtDoor)
        this.#leadOn = setTimeout(() => resolve('refused'), LEAD_ON_MS);
    });
  }

  stop(): void {
    clearTimeout(this.#leadOn);
    this.#stopListening();
  }
}
