import { WebSocket } from 'undici';
import type { ProviderAnswer, SessionOrder } from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import { providerFailure } from '../../../domain/review/browser-sessions/provider-failure-rules.ts';
import type { OutboundAddresses } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import { within } from '../../../domain/kernel/queues/within.ts';
import { type Cdp, CdpError, type CdpMessage } from '../../browser-host/chromium/browser.ts';
import { openFirstPage } from '../../browser-host/automation/first-page.ts';
import { createOutboundAgent } from '../outbound/outbound-agent.ts';

const CONNECT_MAX_MS = 20_000;

/**
 * Opens an order's first page in a browser that is elsewhere, by the Chrome DevTools Protocol, waits until it is past the front
 * door, and leaves it. The address of the page is asked for when the browser is ready for it. What `startUrl` rejects with is
 * thrown.
 * @param connectUrl of the browser's WebSocket, a secret. @param pace as of `openFirstPage`.
 */
export async function openFirstPageAt(
  outbound: OutboundAddresses,
  connectUrl: string,
  { startUrl }: Pick<SessionOrder, 'startUrl'>,
  signal: AbortSignal,
  pace = 1,
): Promise<ProviderAnswer<null>> {
  const refusal = outbound.refusedUrl(connectUrl.replace(/^ws/i, 'http'));
  if (refusal !== undefined) return providerFailure('rejected', 'The browser is at no permitted address');
  const dispatcher = createOutboundAgent(outbound, {});
  const cdp = connect(new WebSocket(connectUrl, { dispatcher }), signal);
  try {
    const isOpen = await within(CONNECT_MAX_MS, cdp.opened, () => false);
    if (!isOpen) return providerFailure('timeout', 'The browser did not let us connect in time');
    const { targetInfos } = (await cdp.send('Target.getTargets')) as {
      targetInfos: { type: string; targetId: string }[];
    };
    const page = targetInfos.find(({ type }) => type === 'page');
    const targetId =
      page?.targetId ?? ((await cdp.send('Target.createTarget', { url: 'about:blank' })).targetId as string);
    const { sessionId } = (await cdp.send('Target.attachToTarget', { targetId, flatten: true })) as {
      sessionId: string;
    };
    await cdp.send('Page.enable', {}, sessionId);
    const failure = await openFirstPage(cdp, sessionId, await startUrl(), signal, pace);
    return failure ?? { isOk: true, value: null };
  } catch (error) {
    if (error instanceof CdpError) return providerFailure('unavailable', error.message);
    throw error;
  } finally {
    cdp.close();
    void dispatcher.destroy();
  }
}

type Listener = Parameters<Cdp['onEvent']>[1];

function connect(socket: WebSocket, signal: AbortSignal) {
  const waiting = new Map<number, (reply: CdpMessage) => void>();
  const listeners = new Map<Listener, string | undefined>();
  let last = 0;
  const { promise: opened, resolve: open, reject: fail } = Promise.withResolvers<true>();
  const { promise: closed, resolve: end } = Promise.withResolvers<void>();
  const broken = closed.then((): never => {
    throw new CdpError('The connection to the browser was lost');
  });
  // Each is awaited somewhere only while something is asked.
  for (const each of [opened, broken]) each.catch(() => undefined);
  broken.catch(fail);
  socket.addEventListener('open', () => open(true));
  socket.addEventListener('close', () => end());
  socket.addEventListener('error', () => end());
  const abort = () => end();
  signal.addEventListener('abort', abort, { once: true });
  socket.addEventListener('message', ({ data }) => {
    const { id, method, params = {}, sessionId, ...reply } = JSON.parse(String(data)) as CdpMessage;
    if (id !== undefined) {
      waiting.get(id)?.(reply);
      waiting.delete(id);
    } else if (method !== undefined)
      for (const [listener, session] of listeners) if (session === sessionId) listener(method, params);
  });
  return {
    opened,
    closed,
    async send(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
      const id = ++last;
      const answered = new Promise<CdpMessage>((resolve) => waiting.set(id, resolve));
      socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
      const { result = {}, error } = await Promise.race([answered, broken]);
      if (error) throw new CdpError(`The browser refused ${method}`);
      return result;
    },
    onEvent(sessionId: string | undefined, listener: Listener): () => void {
      listeners.set(listener, sessionId);
      return () => void listeners.delete(listener);
    },
    close() {
      signal.removeEventListener('abort', abort);
      socket.close();
    },
  };
}
