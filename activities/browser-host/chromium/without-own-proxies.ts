import { type Cdp, CdpError, type CdpMessage } from './browser.ts';

/** Refuses contexts with a proxy of their own: a browser that is in no jail would leave past the egress proxy in them. */
export function withoutOwnProxies(cdp: Cdp): Cdp {
  const isRefused = (method: string | undefined, params: object | undefined) =>
    method === 'Target.createBrowserContext' &&
    Object.keys(params ?? {}).some((name) => name === 'proxyServer' || name === 'proxyBypassList');
  return {
    closed: cdp.closed,
    onEvent: (sessionId, listener) => cdp.onEvent(sessionId, listener),
    onAnyEvent: (listener) => cdp.onAnyEvent(listener),
    async send(method, params, sessionId) {
      if (isRefused(method, params)) throw new CdpError(REFUSAL);
      return cdp.send(method, params, sessionId);
    },
    async pass(message): Promise<CdpMessage> {
      if (!isRefused(message.method, message.params)) return cdp.pass(message);
      const { id, sessionId } = message;
      const error = { code: -32_000, message: REFUSAL };
      return { ...(id !== undefined && { id }), error, ...(sessionId !== undefined && { sessionId }) };
    },
  };
}

const REFUSAL = 'Contexts with a proxy of their own are not allowed';
