import { Agent, WebSocket } from 'undici';
import type { ProviderAnswer, SessionOrder } from '../../domain/browser-sessions/browser-provider.port.ts';
import type { OutboundAddresses } from '../../domain/outbound/outbound-addresses.ts';
import { within } from '../../domain/shared/within.ts';
import { permittedConnector } from './outbound-policy.ts';

const CONNECT_MAX_MS = 20_000;
const NAVIGATE_MAX_MS = 45_000;

interface CdpReply {
  id?: number;
  result?: Record<string, unknown>;
  error?: { message?: string };
}

/**
 * Opens an order's first page in a browser that is elsewhere, by the Chrome DevTools Protocol, and leaves it. The address of
 * the page is asked for when the browser is ready for it. What `startUrl` rejects with is thrown.
 * @param connectUrl of the browser's WebSocket, a secret.
 */
export async function openFirstPage(
  outbound: OutboundAddresses,
  connectUrl: string,
  { startUrl }: Pick<SessionOrder, 'startUrl'>,
  signal: AbortSignal,
): Promise<ProviderAnswer<null>> {
  const refusal = outbound.refusedUrl(connectUrl.replace(/^ws/i, 'http'));
  if (refusal !== undefined)
    return { isOk: false, kind: 'rejected', message: 'The browser is at no permitted address' };
  const dispatcher = new Agent({ connect: permittedConnector(outbound) });
  const cdp = connect(new WebSocket(connectUrl, { dispatcher }), signal);
  try {
    await within(CONNECT_MAX_MS, cdp.opened, late('The browser did not let us connect in time'));
    const { targetInfos } = (await cdp.send('Target.getTargets')) as {
      targetInfos: { type: string; targetId: string }[];
    };
    const page = targetInfos.find(({ type }) => type === 'page');
    const targetId =
      page?.targetId ?? ((await cdp.send('Target.createTarget', { url: 'about:blank' })).targetId as string);
    const { sessionId } = await cdp.send('Target.attachToTarget', { targetId, flatten: true });
    const url = (await startUrl()).href;
    const navigated = cdp.send('Page.navigate', { url }, sessionId as string);
    const { errorText } = await within(NAVIGATE_MAX_MS, navigated, late('The page did not load in time'));
    if (typeof errorText === 'string' && errorText !== '')
      return { isOk: false, kind: 'navigation_failed', message: `The page did not load: ${errorText.slice(0, 100)}` };
    return { isOk: true, value: null };
  } catch (error) {
    if (error instanceof CdpError) return { isOk: false, kind: error.kind, message: error.message };
    throw error;
  } finally {
    cdp.close();
    void dispatcher.destroy();
  }
}

/** The browser did not do what it was asked. */
class CdpError extends Error {
  readonly kind: 'unavailable' | 'timeout';
  constructor(kind: 'unavailable' | 'timeout', message: string) {
    super(message);
    this.kind = kind;
  }
}

const late = (message: string) => (): never => {
  throw new CdpError('timeout', message);
};

function connect(socket: WebSocket, signal: AbortSignal) {
  const waiting = new Map<number, (reply: CdpReply) => void>();
  let last = 0;
  const { promise: opened, resolve: open, reject: fail } = Promise.withResolvers<void>();
  const { promise: broken, reject: breakOff } = Promise.withResolvers<never>();
  // Each is awaited somewhere only while something is asked.
  for (const each of [opened, broken]) each.catch(() => undefined);
  const end = () => {
    const error = new CdpError('unavailable', 'The connection to the browser was lost');
    fail(error);
    breakOff(error);
  };
  socket.addEventListener('open', () => open());
  socket.addEventListener('close', end);
  socket.addEventListener('error', end);
  signal.addEventListener('abort', end, { once: true });
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as CdpReply;
    if (reply.id === undefined) return;
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  return {
    opened,
    async send(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
      const id = ++last;
      const answered = new Promise<CdpReply>((resolve) => waiting.set(id, resolve));
      socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
      const { result = {}, error } = await Promise.race([answered, broken]);
      if (error) throw new CdpError('unavailable', `The browser refused ${method}`);
      return result;
    },
    close() {
      signal.removeEventListener('abort', end);
      socket.close();
    },
  };
}
