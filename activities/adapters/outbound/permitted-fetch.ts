import { fetch as fetchBy, type RequestInit as InitBy } from 'undici';
import { RefusedAddressError } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import type { HostAddresses } from '../../../domain/mocks/serving/own-mocks.ts';
import { TooLargeError } from '../../../domain/kernel/shared/whole-bytes.ts';
import { readWhole } from './bounded-fetch.ts';
import { createHostAgent } from '../git-hosts/host-agent.ts';

export interface PermittedFetch {
  fetch: typeof globalThis.fetch;
  close: () => Promise<void>;
}

type FetchInput = Parameters<typeof globalThis.fetch>[0];

/** Calls permitted addresses only, over connections that are kept open. @param idleMs 0: without limit. */
function connect(addresses: HostAddresses, idleMs: number) {
  const dispatcher = createHostAgent(addresses, { headersTimeout: idleMs, bodyTimeout: idleMs });
  return {
    call(input: FetchInput, init: RequestInit | undefined) {
      const url = input instanceof Request ? input.url : String(input);
      const refusal = addresses.refusedUrl(url);
      if (refusal !== undefined) throw new RefusedAddressError(refusal);
      return fetchBy(url, { ...(init as unknown as InitBy), dispatcher });
    },
    close: () => dispatcher.destroy(),
  };
}

/**
 * A `fetch` for libraries that take one: to permitted addresses only, over connections that are kept open.
 * @param maxBytes a larger answer is an error.
 */
export function createPermittedFetch(addresses: HostAddresses, { maxBytes }: { maxBytes: number }): PermittedFetch {
  const { call, close } = connect(addresses, 0);
  return {
    async fetch(input, init) {
      const answer = await call(input, init);
      const body = await readWhole(answer, maxBytes);
      const { status, statusText } = answer;
      const headers = Object.fromEntries(answer.headers);
      return new Response(body.length === 0 ? null : body, { status, statusText, headers });
    },
    close,
  };
}

/**
 * A fetch that keeps to the same addresses as `createPermittedFetch`, for answers that come bit by bit; it follows no
 * redirect.
 * @param idleMs without a byte for so long, the answer has failed.
 */
export function createPermittedStream(
  addresses: HostAddresses,
  { maxBytes, idleMs }: { maxBytes: number; idleMs: number },
): PermittedFetch {
  const { call, close } = connect(addresses, idleMs);
  return {
    async fetch(input, init) {
      const { body, status, statusText, headers } = await call(input, { ...init, redirect: 'manual' });
      let size = 0;
      const counted = body?.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller) {
            size += chunk.length;
            if (size > maxBytes) controller.error(new TooLargeError(`the answer is larger than ${maxBytes} bytes`));
            else controller.enqueue(chunk);
          },
        }),
      );
      return new Response(counted ?? null, { status, statusText, headers: Object.fromEntries(headers) });
    },
    close,
  };
}
