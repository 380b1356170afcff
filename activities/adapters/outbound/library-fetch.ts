import { fetch as fetchBy, type RequestInit as InitBy } from 'undici';
import { RefusedAddressError } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import { TooLargeError, wholeBytes } from '../../../domain/kernel/shared/whole-bytes.ts';
import type { HostAddresses } from '../../../domain/mocks/serving/own-mocks.ts';
import { createOutboundAgent } from './outbound-agent.ts';

export interface LibraryFetch {
  fetch: typeof globalThis.fetch;
  close: () => Promise<void>;
}

interface FetchBounds {
  /** A larger reply is an error. */
  maxBytes: number;
  /** From the request to the last byte of the reply; absent: the library has a clock. */
  timeoutMs?: number;
  /** Without a byte for so long, the reply has failed. */
  idleMs?: number;
  /** The reply comes bit by bit. */
  isStreamed?: boolean;
}

/**
 * A `fetch` for libraries that take one, over connections that are kept open; it follows no redirect. `outboundFailure`
 * tells what its errors mean.
 * @param addresses as of `createOutboundHttp`.
 */
export function createLibraryFetch(
  addresses: HostAddresses | undefined,
  { maxBytes, timeoutMs, idleMs = 0, isStreamed = false }: FetchBounds,
): LibraryFetch {
  const dispatcher = createOutboundAgent(addresses, { headersTimeout: idleMs, bodyTimeout: idleMs });
  return {
    async fetch(input, init) {
      const url = input instanceof Request ? input.url : String(input);
      const refusal = addresses?.refusedUrl(url);
      if (refusal !== undefined) throw new RefusedAddressError(refusal);
      const signals = [init?.signal, timeoutMs && AbortSignal.timeout(timeoutMs)].filter((signal) => !!signal);
      const { status, statusText, headers, body } = await fetchBy(url, {
        ...(init as unknown as InitBy),
        redirect: 'manual',
        dispatcher,
        signal: AbortSignal.any(signals),
      });
      // A library that does not read its stream to the end cancels it, which ends the connection.
      const content = body && (isStreamed ? body.pipeThrough(bounded(maxBytes)) : await wholeBytes(body, maxBytes));
      return new Response(Buffer.isBuffer(content) && content.length === 0 ? null : content, {
        status,
        statusText,
        headers: Object.fromEntries(headers),
      });
    },
    close: () => dispatcher.destroy(),
  };
}

function bounded(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform(piece, controller) {
      if ((size += piece.length) > maxBytes)
        controller.error(new TooLargeError(`the reply has more than ${maxBytes} bytes`));
      else controller.enqueue(piece);
    },
  });
}
