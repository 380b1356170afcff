import type {
  ProviderAnswer,
  ProviderFailureKind,
} from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import { providerFailure } from '../../../domain/review/browser-sessions/provider-failure-rules.ts';
import type { HostAddresses } from '../../../domain/mocks/serving/own-mocks.ts';
import { wholeBytes } from '../../../domain/kernel/shared/whole-bytes.ts';
import { limitedForMs } from '../git-hosts/host-failures.ts';
import { createOutboundHttp, jsonOf, type OutboundFailure } from '../outbound/outbound-http.ts';

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

/** Calls permitted addresses only; a redirect that is followed takes the key to no other origin. */
export function createBrowserbaseHttp(outbound: HostAddresses, timeoutMs: number) {
  const http = createOutboundHttp(outbound);
  const failureOf = ({ kind }: OutboundFailure) => {
    if (kind === 'nowhere') return providerFailure('rejected', 'Browserbase redirects to where nothing is');
    if (kind === 'refused')
      return providerFailure('rejected', 'The address of Browserbase, or one that it redirects to, is not permitted');
    return kind === 'timeout'
      ? providerFailure('timeout', `Browserbase did not answer within ${timeoutMs / 1_000} s`)
      : providerFailure('unavailable', 'Browserbase could not be reached');
  };
  return {
    /** Every failure of the provider is a value; an abort is thrown. */
    async call(order: BrowserbaseCall): Promise<ProviderAnswer<BrowserbaseReply>> {
      const { access, method, path, accept = 'application/json', body, followsRedirects = false, signal } = order;
      const projectId = access.browserbaseProject;
      const answer = await http.send(
        {
          method,
          url: `${(access.baseUrl ?? BROWSERBASE_URL).replace(/\/+$/, '')}${path}`,
          headers: { accept, ...(body !== undefined && { 'content-type': 'application/json' }) },
          credentials: { 'x-bb-api-key': access.apiKey },
          ...(body && { body: JSON.stringify({ ...body, ...(projectId !== undefined && { projectId }) }) }),
          followsRedirects,
          timeoutMs,
          maxBytes: ANSWER_MAX_BYTES,
          signal,
        },
        async (reply) => ({ ...reply, content: await wholeBytes(reply.body) }),
      );
      if (!answer.isOk) {
        signal.throwIfAborted();
        return failureOf(answer);
      }
      const { status, headers, url, content } = answer.value;
      if (status >= 200 && status < 300) return { isOk: true, value: { body: content, address: url } };
      const kind = KIND_OF[status] ?? (status >= 500 ? 'unavailable' : 'rejected');
      const retryAfterMs = limitedForMs(status, headers, { message: '', nowMs: Date.now() });
      return {
        ...providerFailure(kind, `Browserbase answered ${status}${detailOf(content, access.apiKey)}`),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      };
    },
    close: http.close,
  };
}

/** The provider's own message, without the key should it repeat that. */
function detailOf(content: Buffer, apiKey: string): string {
  const { message } = (jsonOf(content) ?? {}) as { message?: unknown };
  return typeof message === 'string' ? `: ${message.replaceAll(apiKey, '…').slice(0, 300)}` : '';
}
