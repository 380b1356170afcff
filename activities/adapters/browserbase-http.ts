import { request } from 'undici';
import type { ProviderAnswer, ProviderFailureKind } from '../../domain/browser-sessions/browser-provider.port.ts';
import { providerFailure } from '../../domain/browser-sessions/provider-failure-rules.ts';
import type { HostAddresses } from '../../domain/outbound/own-mocks.ts';
import { wholeBytes } from '../../domain/shared/whole-bytes.ts';
import { limitedForMs } from './host-http.ts';
import { createHostAgent } from './host-agent.ts';

const BROWSERBASE_URL = 'https://api.browserbase.com';

/** A credential of Browserbase. */
export interface BrowserbaseAccess {
  /** Null: the public service. */
  baseUrl: string | null;
  apiKey: string;
  /** Undefined: the one that the key belongs to. */
  browserbaseProject?: string | undefined;
}

/** A playlist of a session of an hour has some thousand lines. */
const ANSWER_MAX_BYTES = 8 * 1_048_576;

export interface BrowserbaseCall {
  access: BrowserbaseAccess;
  method: 'GET' | 'POST';
  /** With query; begins with a slash. */
  path: string;
  accept?: string;
  /** JSON; the project of the access is added. */
  body?: Record<string, unknown>;
  signal: AbortSignal;
}

export interface BrowserbaseReply {
  body: Buffer;
  /** Where it came from. */
  address: string;
}

const KIND_OF: Readonly<Record<number, ProviderFailureKind>> = {
  401: 'auth_failed',
  403: 'auth_failed',
  404: 'not_found',
  408: 'timeout',
  410: 'not_found',
  425: 'unavailable',
  429: 'limited',
};

/** Calls permitted addresses only, over connections that are kept open, and follows no redirects. */
export function createBrowserbaseHttp(outbound: HostAddresses, timeoutMs: number) {
  const dispatcher = createHostAgent(outbound, { headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  return {
    /** Every failure of the provider is a value; an abort is thrown. */
    async call(order: BrowserbaseCall): Promise<ProviderAnswer<BrowserbaseReply>> {
      const { access, method, path, accept = 'application/json', body, signal } = order;
      const projectId = access.browserbaseProject;
      const address = `${(access.baseUrl ?? BROWSERBASE_URL).replace(/\/+$/, '')}${path}`;
      if (outbound.refusedUrl(address) !== undefined)
        return providerFailure('rejected', 'The address of Browserbase is not permitted');
      const clock = AbortSignal.timeout(timeoutMs);
      try {
        const response = await request(address, {
          method,
          dispatcher,
          signal: AbortSignal.any([signal, clock]),
          headers: {
            accept,
            'x-bb-api-key': access.apiKey,
            'user-agent': 'quayside',
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body && {
            body: JSON.stringify({ ...body, ...(projectId !== undefined && { projectId }) }),
          }),
        });
        const content = await wholeBytes(response.body, ANSWER_MAX_BYTES);
        const { statusCode: status } = response;
        if (status >= 200 && status < 300) return { isOk: true, value: { body: content, address } };
        const kind = KIND_OF[status] ?? (status >= 500 ? 'unavailable' : 'rejected');
        const retryAfterMs = limitedForMs(status, response.headers, { message: '', nowMs: Date.now() });
        return {
          ...providerFailure(kind, `Browserbase answered ${status}${detailOf(content, access.apiKey)}`),
          ...(retryAfterMs !== undefined && { retryAfterMs }),
        };
      } catch (error) {
        if (signal.aborted) throw error;
        return clock.aborted || isTimeout(error)
          ? providerFailure('timeout', `Browserbase did not answer within ${timeoutMs / 1_000} s`)
          : providerFailure('unavailable', 'Browserbase could not be reached');
      }
    },
    close: () => dispatcher.destroy(),
  };
}

const isTimeout = (error: unknown): boolean => {
  const { name, code } = error as NodeJS.ErrnoException;
  return name === 'TimeoutError' || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT';
};

/** The provider's own message, without the key should it repeat that. */
function detailOf(content: Buffer, apiKey: string): string {
  try {
    const { message } = JSON.parse(content.toString()) as { message?: unknown };
    return typeof message === 'string' ? `: ${message.replaceAll(apiKey, '…').slice(0, 300)}` : '';
  } catch {
    return '';
  }
}
