import { Agent, fetch as fetchBy, type RequestInit as InitBy } from 'undici';
import type { OutboundAddresses } from '../../domain/outbound/outbound-addresses.ts';
import { readWhole } from './bounded-fetch.ts';
import { permittedConnector, RefusedAddressError } from './outbound-policy.ts';

export interface PermittedFetch {
  fetch: typeof globalThis.fetch;
  close: () => Promise<void>;
}

/**
 * A `fetch` for libraries that take one: to permitted addresses only, over connections that are kept open.
 * @param maxBytes a larger answer is an error.
 */
export function createPermittedFetch(addresses: OutboundAddresses, { maxBytes }: { maxBytes: number }): PermittedFetch {
  const dispatcher = new Agent({ connect: permittedConnector(addresses), headersTimeout: 0, bodyTimeout: 0 });
  return {
    async fetch(input, init) {
      const url = input instanceof Request ? input.url : String(input);
      const refusal = addresses.refusedUrl(url);
      if (refusal !== undefined) throw new RefusedAddressError(refusal);
      const answer = await fetchBy(url, { ...(init as unknown as InitBy), dispatcher });
      const body = await readWhole(answer, maxBytes);
      const { status, statusText } = answer;
      const headers = Object.fromEntries(answer.headers);
      return new Response(body.length === 0 ? null : body, { status, statusText, headers });
    },
    close: () => dispatcher.destroy(),
  };
}
