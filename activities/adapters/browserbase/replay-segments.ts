import type { OutboundAddresses } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import type { ProviderAnswer, Segment } from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import { providerFailure } from '../../../domain/review/browser-sessions/provider-failure-rules.ts';
import {
  createOutboundHttp,
  discard,
  headerOf,
  type OutboundFailure,
  type OutboundReply,
} from '../outbound/outbound-http.ts';

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
  const http = createOutboundHttp(outbound, { headersTimeout: idleMs, bodyTimeout: idleMs });

  function segmentOf({ status, headers, url: address, body }: OutboundReply): ProviderAnswer<Segment> {
    if (status !== 200 && status !== 206 && status !== 416) {
      const isGone = status === 403 || status === 404 || status === 410;
      return providerFailure(isGone ? 'not_found' : 'unavailable', `The segment was answered with ${status}`);
    }
    const range = headerOf(headers, 'content-range') ?? null;
    if (status === 416)
      return { isOk: true, value: { status, contentType: BYTES, length: null, range, address, body: noBytes() } };
    const contentType = headerOf(headers, 'content-type')?.split(';')[0]?.trim().toLowerCase() ?? BYTES;
    const length = Number(headerOf(headers, 'content-length') ?? Number.NaN);
    if (!PASSED_TYPES.test(contentType))
      return providerFailure('rejected', `The segment is neither video nor sound nor playlist`);
    if (length > maxBytes) return providerFailure('rejected', `The segment is larger than ${maxBytes} bytes`);
    return {
      isOk: true,
      value: { status, contentType, length: Number.isNaN(length) ? null : length, range, address, body },
    };
  }

  return {
    async fetch(url: string, range: string | null, signal: AbortSignal): Promise<ProviderAnswer<Segment>> {
      const headers = { accept: '*/*', ...(range !== null && { range }) };
      const reply = await http.open({ url, headers, followsRedirects: true, maxBytes, signal });
      signal.throwIfAborted();
      if (!reply.isOk) return failureOf(reply);
      const segment = segmentOf(reply.value);
      if (!segment.isOk || segment.value.status === 416) discard(reply.value.stream);
      return segment;
    },
    close: http.close,
  };
}

const BYTES = 'application/octet-stream';

function failureOf({ kind }: OutboundFailure): ProviderAnswer<never> {
  if (kind === 'nowhere') return providerFailure('rejected', 'The segment leads nowhere');
  if (kind === 'refused') return providerFailure('rejected', 'The segment is at no permitted address');
  return providerFailure('unavailable', 'The segment could not be fetched');
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}
