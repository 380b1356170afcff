import { request } from 'undici';
import { RefusedAddressError } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import type {
  ProviderAnswer,
  ProviderFailureKind,
} from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import { providerFailure } from '../../../domain/review/browser-sessions/provider-failure-rules.ts';
import type { HostAddresses } from '../../../domain/mocks/serving/own-mocks.ts';
import { wholeBytes } from '../../../domain/kernel/shared/whole-bytes.ts';
import { limitedForMs } from '../git-hosts/host-http.ts';
import { createHostAgent } from '../git-hosts/host-agent.ts';
import { followingRedirects } from './redirects.ts';

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
  /** Files may be kept elsewhere; where the interface itself sends elsewhere, that is an answer like another. */
  followsRedirects?: boolean;
  signal: AbortSignal;
}

export interface BrowserbaseReply {
  body: Buffer;
  /** Where it came from, after redirects. */
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

/**
 * Calls permitted addresses only, over connections that are kept open. A redirect that is followed is checked as the first
 * address is, and takes the key to no other origin.
 */
export function createBrowserbaseHttp(outbound: HostAddresses, timeoutMs: number) {
  const dispatcher = createHostAgent(outbound, { headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  /** Rejects with `RefusedAddressError`. @param first the address of the interface, whose key it is. */
  async function ask(address: string, first: string, order: BrowserbaseCall, signal: AbortSignal) {
    const { access, method, accept = 'application/json', body } = order;
    const refusal = outbound.refusedUrl(address);
    if (refusal !== undefined) throw new RefusedAddressError(refusal);
    const projectId = access.browserbaseProject;
    const isItself = new URL(address).origin === new URL(first).origin;
    return request(address, {
      method,
      dispatcher,
      signal,
      headers: {
        accept,
        ...(isItself && { 'x-bb-api-key': access.apiKey }),
        'user-agent': 'quayside',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify({ ...body, ...(projectId !== undefined && { projectId }) }) }),
    });
  }
  return {
    /** Every failure of the provider is a value; an abort is thrown. */
    async call(order: BrowserbaseCall): Promise<ProviderAnswer<BrowserbaseReply>> {
      const { access, path, followsRedirects = false, signal } = order;
      const first = `${(access.baseUrl ?? BROWSERBASE_URL).replace(/\/+$/, '')}${path}`;
      const clock = AbortSignal.timeout(timeoutMs);
      const either = AbortSignal.any([signal, clock]);
      try {
        const send = (address: string) => ask(address, first, order, either);
        const reached = followsRedirects
          ? await followingRedirects(first, send)
          : { response: await send(first), address: first };
        if (!reached) return providerFailure('rejected', 'Browserbase redirects to where nothing is');
        const { response, address } = reached;
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
        if (error instanceof RefusedAddressError)
          return providerFailure(
            'rejected',
            'The address of Browserbase, or one that it redirects to, is not permitted',
          );
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
