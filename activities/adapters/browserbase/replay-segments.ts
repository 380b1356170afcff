import { Agent, request } from 'undici';
import type { ProviderAnswer, Segment } from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import { providerFailure } from '../../../domain/review/browser-sessions/provider-failure-rules.ts';
import { type OutboundAddresses, RefusedAddressError } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import { boundedBytes } from '../../../domain/kernel/shared/whole-bytes.ts';
import { permittedConnector } from '../outbound/outbound-policy.ts';
import { discard, followingRedirects, headerOf } from './redirects.ts';

const SEGMENT_MAX_BYTES = 64 * 1_048_576;
const IDLE_MS = 20_000;
/**
 * Content types that are passed on: video, sound, and playlists behind playlists. What a page could run must not come from
 * our address.
 */
const PASSED_TYPES =
  /^((audio|video)\/[\w.+-]+|application\/(vnd\.apple\.mpegurl|x-mpegurl|octet-stream)|binary\/octet-stream)$/;

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

  /** Throws `RefusedAddressError`. */
  async function fetchFrom(first: string, range: string | null, signal: AbortSignal): Promise<ProviderAnswer<Segment>> {
    const reached = await followingRedirects(first, (address) => {
      const refusal = outbound.refusedUrl(address);
      if (refusal !== undefined) throw new RefusedAddressError(refusal);
      return request(address, {
        dispatcher,
        signal,
        headers: { accept: '*/*', 'user-agent': 'quayside', ...(range !== null && { range }) },
      });
    });
    if (!reached) return providerFailure('rejected', 'The segment leads nowhere');
    const { response, address } = reached;
    const { statusCode: status, body } = response;
    if (status !== 200 && status !== 206 && status !== 416) {
      discard(body);
      const isGone = status === 403 || status === 404 || status === 410;
      return providerFailure(isGone ? 'not_found' : 'unavailable', `The segment was answered with ${status}`);
    }
    const contentType =
      headerOf(response, 'content-type')?.split(';')[0]?.trim().toLowerCase() ?? 'application/octet-stream';
    const length = Number(headerOf(response, 'content-length') ?? Number.NaN);
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
        range: headerOf(response, 'content-range') ?? null,
        address,
        body: status === 416 ? noBytes() : boundedBytes(body, maxBytes),
      },
    };
  }

  return {
    async fetch(address: string, range: string | null, signal: AbortSignal): Promise<ProviderAnswer<Segment>> {
      try {
        return await fetchFrom(address, range, signal);
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

async function* noBytes(): AsyncGenerator<Uint8Array> {}
