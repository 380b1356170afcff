import { serviceId } from '../../../domain/mocks/mock-keys.ts';
import {
  type ForwardUpstream,
  HOPS_HEADER,
  hopsOf,
  PASSED_BY_HEADER,
  passedBy,
  type UpstreamAnswer,
  type UpstreamFailure,
} from '../../../domain/mocks/serving/upstream.port.ts';
import type { OutboundAddresses } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import { contentCoding, isKnownCoding, unpacked } from '../../../domain/kernel/shared/content-coding.ts';
import { wholeBytes } from '../../../domain/kernel/shared/whole-bytes.ts';
import { createOutboundHttp, OutboundFailure } from '../outbound/outbound-http.ts';
import type { Resolver } from '../outbound/outbound-policy.ts';

const ANSWER_MAX_BYTES = 20 * 1024 * 1024;
const TIMEOUT_MS = 60_000;
const KEEP_ALIVE_MS = 10_000;

export interface ClosableForward {
  forward: ForwardUpstream;
  close: () => Promise<void>;
}

/** Headers that are not passed on, since they concern the connection or this service alone. */
const NOT_SENT =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect|x-mock-run|x-forwarded-.*|forwarded)$/;
const NOT_TAKEN =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|content-encoding)$/;

/**
 * Passes requests of mock scenarios on over connections that are kept open, to permitted addresses only.
 * @param publicUrl of the service, which tells by it its own requests that come back.
 */
export function createMockUpstream(
  addresses: OutboundAddresses,
  publicUrl: string,
  resolve?: Resolver,
): ClosableForward {
  const own = serviceId(publicUrl);
  const http = createOutboundHttp(addresses, { resolve, keepAliveTimeout: KEEP_ALIVE_MS });
  return {
    async forward({ upstream, method, target, headers, bytes }, left) {
      const sent = Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_SENT.test(name)));
      const hasBody = bytes.length > 0 && method !== 'GET' && method !== 'HEAD';
      const answer = await http.send(
        {
          method,
          url: upstreamUrl(upstream, target),
          headers: {
            'user-agent': undefined,
            ...sent,
            [HOPS_HEADER]: String(hopsOf(headers) + 1),
            [PASSED_BY_HEADER]: [...passedBy(headers), own].join(','),
          },
          body: hasBody ? bytes : undefined,
          timeoutMs: TIMEOUT_MS,
          maxBytes: ANSWER_MAX_BYTES,
          signal: left,
        },
        async (reply) => unpackedAnswer(reply.status, reply.headers, await wholeBytes(reply.body)),
      );
      return answer.isOk ? { answer: answer.value } : { failure: failureOf(answer) };
    },
    close: http.close,
  };
}

/** The target behind the path of the upstream. */
export function upstreamUrl(upstream: string, target: string): string {
  const { origin, pathname } = new URL(upstream);
  return origin + pathname.replace(/\/$/, '') + target;
}

async function unpackedAnswer(
  status: number,
  given: Record<string, string | string[] | undefined>,
  packed: Buffer,
): Promise<UpstreamAnswer> {
  const coding = contentCoding(given['content-encoding']);
  const isKnown = isKnownCoding(coding);
  const headers: UpstreamAnswer['headers'] = {};
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && (!NOT_TAKEN.test(name) || (name === 'content-encoding' && !isKnown && coding !== '')))
      headers[name] = value;
  if (!isKnown || packed.length === 0) return { status, headers, bytes: packed };
  try {
    return { status, headers, bytes: await unpacked(coding, packed, ANSWER_MAX_BYTES) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new OutboundFailure('too_large', `the answer is larger than ${ANSWER_MAX_BYTES} bytes when it is unpacked`);
    // Broken compression is passed on as it came.
    return { status, headers: { ...headers, 'content-encoding': coding }, bytes: packed };
  }
}

function failureOf({ kind, code, message }: OutboundFailure): UpstreamFailure {
  if (kind === 'refused') return { kind, message };
  if (kind === 'timeout') return { kind, message: `no answer within ${TIMEOUT_MS} ms` };
  if (kind === 'too_large') return { kind: 'failed', message };
  return { kind: 'failed', message: code === undefined ? 'the request failed' : `the request failed (${code})` };
}
