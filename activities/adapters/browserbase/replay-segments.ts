import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import type { ProviderAnswer, Segment } from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import { providerFailure } from '../../../domain/review/browser-sessions/provider-failure-rules.ts';
import { type OutboundAddresses, RefusedAddressError } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import { boundedBytes } from '../../../domain/kernel/shared/whole-bytes.ts';
import { permittedConnector } from '../outbound/outbound-policy.ts';

const SEGMENT_MAX_BYTES = 64 * 1_048_576;
const IDLE_MS = 20_000;
const REDIRECTS_MAX = 3;
/** Of video and sound, and of playlists behind playlists. What a page could run must not come from our address. */
const PASSED_TYPES =
  /^((audio|video)\/[\w.+-]+|application\/(vnd\.apple\.mpegurl|x-mpegurl|octet-stream)|binary\/octet-stream)$/;
const REDIRECT = new Set([301, 302, 303, 307, 308]);

export interface SegmentLimits {
  maxBytes?: number;
  idleMs?: number;
}

/** Parts of recordings that are elsewhere: at permitted addresses only, each redirect, too. */
export function createReplaySegments(
  outbound: OutboundAddresses,
  { maxBytes = SEGMENT_MAX_BYTES, idleMs = IDLE_MS }: SegmentLimits = {},
) {
  const dispatcher = new Agent({
    connect: permittedConnector(outbound),
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
  });

  async function fetchFrom(
    address: string,
    range: string | null,
    signal: AbortSignal,
    redirects: number,
  ): Promise<ProviderAnswer<Segment>> {
    if (outbound.refusedUrl(address) !== undefined)
      return providerFailure('rejected', 'The segment is at no permitted address');
    const response = await request(address, {
      dispatcher,
      signal,
      headers: { accept: '*/*', 'user-agent': 'quayside', ...(range !== null && { range }) },
    });
    const { statusCode: status, headers, body } = response;
    const header = (name: string) => [headers[name]].flat()[0] ?? null;
    const location = header('location');
    if (REDIRECT.has(status) && location !== null) {
      discard(body);
      const next = URL.parse(location, address);
      if (!next || redirects === REDIRECTS_MAX) return providerFailure('rejected', 'The segment leads nowhere');
      return fetchFrom(next.href, range, signal, redirects + 1);
    }
    if (status !== 200 && status !== 206 && status !== 416) {
      discard(body);
      const isGone = status === 403 || status === 404 || status === 410;
      return providerFailure(isGone ? 'not_found' : 'unavailable', `The segment was answered with ${status}`);
    }
    const contentType = header('content-type')?.split(';')[0]?.trim().toLowerCase() ?? 'application/octet-stream';
    const length = Number(header('content-length') ?? Number.NaN);
    if (status !== 416 && !PASSED_TYPES.test(contentType)) {
      discard(body);
      return providerFailure('rejected', `The segment is neither video nor sound nor playlist`);
    }
    if (length > maxBytes) {
      discard(body);
      return providerFailure('rejected', `The segment is larger than ${maxBytes} bytes`);
    }
    if (status === 416) discard(body);
    return {
      isOk: true,
      value: {
        status,
        contentType: status === 416 ? 'application/octet-stream' : contentType,
        length: Number.isNaN(length) || status === 416 ? null : length,
        range: header('content-range'),
        address,
        body: status === 416 ? noBytes() : boundedBytes(body, maxBytes),
      },
    };
  }

  return {
    async fetch(address: string, range: string | null, signal: AbortSignal): Promise<ProviderAnswer<Segment>> {
      try {
        return await fetchFrom(address, range, signal, 0);
      } catch (error) {
        if (signal.aborted) throw error;
        if (error instanceof RefusedAddressError)
          return providerFailure('rejected', 'The segment is at no permitted address');
        return providerFailure('unavailable', 'The segment could not be fetched');
      }
    },
    close: () => dispatcher.destroy(),
  };
}

/** An answer that nobody reads is an error of its stream. */
const discard = (body: Readable): void => {
  body.on('error', () => undefined).destroy();
};

async function* noBytes(): AsyncGenerator<Uint8Array> {}
