import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import type { Answer } from '../../../domain/kernel/outbound/answer.port.ts';
import { RefusedAddressError } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import { boundedBytes, TooLargeError, wholeBytes } from '../../../domain/kernel/shared/whole-bytes.ts';
import type { HostAddresses } from '../../../domain/mocks/serving/own-mocks.ts';
import { type AgentOptions, createOutboundAgent } from './outbound-agent.ts';

/**
 * Why no whole reply came.
 * - `refused`: the address is not permitted
 * - `nowhere`: a redirect leads to no address, or there are too many of them
 * - `timeout`: no whole reply in time
 * - `too_large`: the reply has more bytes than are taken
 * - `broken`: no connection, or one that broke, or the call was aborted
 */
type FailureKind = 'refused' | 'nowhere' | 'timeout' | 'too_large' | 'broken';

/** A failure on the way. Its message is for people where it is `refused` or `too_large`: others may name addresses. */
export class OutboundFailure extends Error {
  readonly isOk = false;
  readonly kind: FailureKind;
  /** What the network calls it, such as `ECONNRESET`. */
  readonly code: string | undefined;

  constructor(
    kind: FailureKind,
    message: string,
    { code, cause }: { code?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.kind = kind;
    this.code = code;
  }
}

export interface OutboundCall {
  method?: Dispatcher.HttpMethod;
  url: string;
  headers?: Record<string, string | string[] | undefined>;
  /** Headers that go to the origin of `url` alone, wherever redirects lead. */
  credentials?: Record<string, string>;
  /** A stream is not sent again where a redirect leads. */
  body?: string | Uint8Array | Readable | undefined;
  /** Follows three redirects at most, to permitted addresses; else a redirect is a reply like another. */
  followsRedirects?: boolean;
  /** Time for the call, from the request to the last byte of the reply. */
  timeoutMs?: number;
  /** Bytes of the reply that are taken. */
  maxBytes: number;
  signal?: AbortSignal | undefined;
}

export interface OutboundReply {
  status: number;
  headers: IncomingHttpHeaders;
  /** The address that gave it, after redirects. */
  url: string;
  /** Throws `OutboundFailure`, also for more than `maxBytes`. */
  body: AsyncIterable<Uint8Array>;
  /** The same without bounds. */
  stream: Readable;
}

export type OutboundAnswer<Value> = Answer<Value, OutboundFailure>;

export interface OutboundHttp {
  /** Sends a request; the caller reads the body of the reply, or calls `discard`. */
  open: (call: OutboundCall) => Promise<OutboundAnswer<OutboundReply>>;
  /** Sends a request and reads its reply. What `read` throws is thrown, but for `OutboundFailure`. */
  send: <Value>(call: OutboundCall, read: (reply: OutboundReply) => Promise<Value>) => Promise<OutboundAnswer<Value>>;
  close: () => Promise<void>;
}

const REDIRECT = new Set([301, 302, 303, 307, 308]);
const REDIRECTS_MAX = 3;

/**
 * Calls other systems over connections that are kept open: at permitted addresses, bounded in time and size. Every failure
 * on the way is a value.
 * @param addresses undefined: those of systems that the operator configured, wherever they are.
 * @param options time-outs of undici are off unless they are given, because each call has its own.
 */
export function createOutboundHttp(addresses: HostAddresses | undefined, options: AgentOptions = {}): OutboundHttp {
  const dispatcher = createOutboundAgent(addresses, { headersTimeout: 0, bodyTimeout: 0, ...options });

  async function ask(url: string, call: OutboundCall, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const refusal = addresses?.refusedUrl(url);
    if (refusal !== undefined) throw new RefusedAddressError(refusal);
    const { method = 'GET', headers, body = null } = call;
    const credentials = new URL(url).origin === new URL(call.url).origin ? call.credentials : undefined;
    const sent = { 'user-agent': 'quayside', ...headers, ...credentials };
    return untilAborted(request(url, { method, dispatcher, signal, headers: sent, body }), signal);
  }

  const open: OutboundHttp['open'] = async (call) => {
    const clock = call.timeoutMs === undefined ? undefined : AbortSignal.timeout(call.timeoutMs);
    const signal = AbortSignal.any([call.signal, clock].filter((each) => each !== undefined));
    let { url } = call;
    try {
      for (let redirects = 0; ; redirects++) {
        const { statusCode: status, headers, body: stream } = await ask(url, call, signal);
        const location = headerOf(headers, 'location');
        if (!call.followsRedirects || !REDIRECT.has(status) || location === undefined)
          return { isOk: true, value: { status, headers, url, body: received(stream, call.maxBytes), stream } };
        discard(stream);
        const next = URL.parse(location, url);
        if (!next || redirects === REDIRECTS_MAX) return new OutboundFailure('nowhere', 'a redirect leads nowhere');
        url = next.href;
      }
    } catch (error) {
      return outboundFailure(error);
    }
  };

  return {
    open,
    async send(call, read) {
      const opened = await open(call);
      if (!opened.isOk) return opened;
      try {
        return { isOk: true, value: await read(opened.value) };
      } catch (error) {
        if (error instanceof OutboundFailure) return error;
        throw error;
      } finally {
        discard(opened.value.stream);
      }
    },
    close: () => dispatcher.destroy(),
  };
}

/** undici heeds a signal only once it is connected. */
function untilAborted(asked: Promise<Dispatcher.ResponseData>, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  const { promise, resolve, reject } = Promise.withResolvers<Dispatcher.ResponseData>();
  const abort = () => {
    reject(signal.reason as Error);
    asked.then(({ body }) => discard(body)).catch(() => undefined);
  };
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  asked.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  return promise;
}

async function* received(stream: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  try {
    yield* boundedBytes(stream, maxBytes);
  } catch (error) {
    throw outboundFailure(error);
  }
}

/** What is not read to its end would hold the connection, and is an error of its stream. */
export const discard = (stream: Readable): void => void stream.on('error', () => undefined).destroy();

/** The first value of a header. */
export const headerOf = (headers: IncomingHttpHeaders, name: string): string | undefined => [headers[name]].flat()[0];

/** Reads a reply as JSON, which is undefined where it is none. */
export async function readJson<Reply extends Pick<OutboundReply, 'body'>>({ body, ...reply }: Reply) {
  const bytes = await wholeBytes(body);
  return { ...reply, json: jsonOf(bytes), sizeBytes: bytes.length };
}

/** The JSON of a body; undefined where it is none. */
export function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}

const TIMED_OUT = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** What an error of a request means, or one that a library throws about it. */
export function outboundFailure(error: unknown): OutboundFailure {
  let code: string | undefined;
  for (let cause = error as Partial<NodeJS.ErrnoException> | undefined; cause; cause = causeOf(cause)) {
    const { name, message = '' } = cause;
    if (cause instanceof RefusedAddressError) return new OutboundFailure('refused', message, { cause: error });
    if (cause instanceof TooLargeError) return new OutboundFailure('too_large', message, { cause: error });
    // A number in errors of the platform.
    if (typeof cause.code === 'string') code ??= cause.code;
    if (name === 'TimeoutError' || TIMED_OUT.has(code ?? ''))
      return new OutboundFailure('timeout', message, { code, cause: error });
  }
  return new OutboundFailure('broken', 'the connection broke', { code, cause: error });
}

/** A host with several addresses fails with an `AggregateError`. */
const causeOf = (error: Partial<AggregateError>): Partial<Error> | undefined =>
  (error.errors?.[0] ?? error.cause) as Partial<Error> | undefined;

/** How a sign-in fails by what went wrong on the way. */
export const failedSignIn = ({ kind }: OutboundFailure) =>
  ({ outcome: 'failed', reason: kind === 'timeout' ? 'timeout' : 'error' }) as const;
