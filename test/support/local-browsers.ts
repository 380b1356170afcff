import { permittedConnector } from '../../activities/adapters/outbound/outbound-policy.ts';
import type { Cdp, RunningBrowser } from '../../activities/browser-host/chromium/browser.ts';
import { type ChromiumOrder, startChromium } from '../../activities/browser-host/chromium/chromium.ts';
import { type BrowserPrograms, findPrograms } from '../../activities/browser-host/chromium/programs.ts';
import { outboundAddresses } from '../../domain/kernel/outbound/outbound-addresses.ts';

/** Programs of this machine for browsers. */
export async function browserPrograms(): Promise<BrowserPrograms> {
  const programs = await findPrograms(process.env.CHROMIUM_PATH);
  if (programs === null) throw new Error('There is no Chromium: .ci/browser brings one');
  return programs;
}

/** A browser in a jail, which may reach these hosts where `OUTBOUND_ALLOW` is `listed`. */
export async function startLocalBrowser(
  { hosts = ['127.0.0.1'], listed = '127.0.0.0/8' }: { hosts?: readonly string[]; listed?: string } = {},
  order: Partial<ChromiumOrder> = {},
): Promise<RunningBrowser> {
  const browser = await startChromium({
    programs: await browserPrograms(),
    isolation: 'jailed',
    viewport: { width: 1_280, height: 720 },
    outbound: { addresses: outboundAddresses(listed), connectorFor: permittedConnector },
    ...order,
  });
  browser.allow(hosts);
  return browser;
}

/** A page that a test opens in a tab. */
export interface TestPage {
  sessionId: string;
  targetId: string;
  /** Answers the error of the browser, or undefined when the page came; resolves when it is loaded. */
  go: (url: string) => Promise<string | undefined>;
  /** The value of an expression, awaited. */
  evaluate: <T>(expression: string) => Promise<T>;
}

/** Opens a tab by the protocol alone. @param params of `Target.createTarget`. */
export async function openPage(cdp: Cdp, params: object = {}): Promise<TestPage> {
  const { targetId } = await cdp.send('Target.createTarget', { url: 'about:blank', ...params });
  const { sessionId } = await cdp.send('Target.attachToTarget', { targetId, flatten: true });
  const session = sessionId as string;
  await cdp.send('Page.enable', {}, session);
  await cdp.send('Page.setLifecycleEventsEnabled', { enabled: true }, session);
  return {
    sessionId: session,
    targetId: targetId as string,
    async go(url) {
      const loaded = new Set<unknown>();
      let onLoad = () => {};
      const end = cdp.onEvent(session, (method, { name, loaderId }) => {
        if (method !== 'Page.lifecycleEvent' || name !== 'load') return;
        loaded.add(loaderId);
        onLoad();
      });
      try {
        const { errorText, loaderId } = await cdp.send('Page.navigate', { url }, session);
        if (typeof errorText === 'string') return errorText;
        while (!loaded.has(loaderId)) await new Promise<void>((resolve) => (onLoad = resolve));
        return undefined;
      } finally {
        end();
      }
    },
    async evaluate<T>(expression: string) {
      const answer = await cdp.send(
        'Runtime.evaluate',
        { expression, awaitPromise: true, returnByValue: true },
        session,
      );
      return (answer.result as { value: T }).value;
    },
  };
}
