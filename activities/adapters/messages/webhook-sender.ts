import { LRUCache } from 'lru-cache';
import type { Dispatcher } from 'undici';
import type { OutboundAddresses } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import type { AttemptOutcome, WebhookSender } from '../../../domain/events/webhooks/webhook-sender.port.ts';
import { createOutboundAgent } from '../outbound/outbound-agent.ts';
import { outboundFailure } from '../outbound/outbound-http.ts';
import type { Resolver } from '../outbound/outbound-policy.ts';

/** The log keeps this much of a response; the rest is not read. */
const RESPONSE_MAX_BYTES = 65_536;
const KEEP_ALIVE_MS = 30_000;
/** More than the webhooks that a worker delivers to at a time. */
const ADDRESSES_KEPT = 1_000;

export interface ClosableSender {
  send: WebhookSender;
  close: () => Promise<void>;
}

/** Where a URL leads, or why it must not be called. */
type Destination = { origin: string; path: string } | { refusal: string };

/** Sends webhooks over connections that are kept open, only to permitted addresses, following no redirect. */
export function createWebhookSender(addresses: OutboundAddresses, resolve?: Resolver): ClosableSender {
  // The attempt has a time-out of its own: undici's would end long attempts early.
  const dispatcher = createOutboundAgent(addresses, {
    resolve,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const destinations = new LRUCache<string, Destination>({ max: ADDRESSES_KEPT });
  const destinationOf = (url: string): Destination => {
    let destination = destinations.get(url);
    if (!destination) {
      const refusal = addresses.refusedUrl(url);
      if (refusal === undefined) {
        const { origin, pathname, search } = new URL(url);
        destination = { origin, path: pathname + search };
      } else destination = { refusal };
      destinations.set(url, destination);
    }
    return destination;
  };
  return {
    async send({ url, method, headers, body, timeoutMs }, stop) {
      const destination = destinationOf(url);
      if ('refusal' in destination) return { errorKind: 'refused', error: destination.refusal, durationMs: 0 };
      stop.throwIfAborted();
      const exchange = new Exchange(timeoutMs, stop);
      dispatcher.dispatch({ ...destination, method, headers, body }, exchange);
      return exchange.outcome;
    },
    close: () => dispatcher.destroy(),
  };
}

/** One request and its response. It costs half of what undici's `request` does, which makes a stream of each response. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly outcome: Promise<AttemptOutcome>;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #stop: AbortSignal;
  #resolve!: (outcome: AttemptOutcome) => void;
  #reject!: (reason: unknown) => void;
  #isSettled = false;
  #controller: Dispatcher.DispatchController | undefined;
  #statusCode: number | undefined;
  #headers: Record<string, string> = {};
  readonly #chunks: Buffer[] = [];
  #size = 0;

  constructor(timeoutMs: number, stop: AbortSignal) {
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#timer = setTimeout(() => {
      this.#cut({ errorKind: 'timeout', error: `no answer within ${timeoutMs} ms` });
    }, timeoutMs);
    this.#stop = stop;
    stop.addEventListener('abort', this.#onStop, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It timed out or was stopped while it waited for a connection.
    if (this.#isSettled) controller.abort(new Error('cut off'));
  }

  onResponseStart(_: Dispatcher.DispatchController, statusCode: number, headers: ResponseHeaders): void {
    if (statusCode < 200) return;
    this.#statusCode = statusCode;
    this.#headers = flatHeaders(headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size <= RESPONSE_MAX_BYTES) return;
    this.#settle();
    controller.abort(new Error('cut off'));
  }

  onResponseEnd(): void {
    this.#settle();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#settle(describe(error));
  }

  readonly #onStop = () => {
    if (this.#statusCode === undefined) this.#reject(this.#stop.reason);
    this.#cut({ errorKind: 'network', error: 'cut off' });
  };

  #cut(failure: Pick<AttemptOutcome, 'errorKind' | 'error'>): void {
    this.#settle(failure);
    this.#controller?.abort(new Error('cut off'));
  }

  /** A response that breaks off or never ends counts by its status, which has arrived. */
  #settle(failure?: Pick<AttemptOutcome, 'errorKind' | 'error'>): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#stop.removeEventListener('abort', this.#onStop);
    const durationMs = Math.round(performance.now() - this.#startedAt);
    if (this.#statusCode === undefined) this.#resolve({ ...failure, durationMs });
    else {
      this.#resolve({
        statusCode: this.#statusCode,
        responseHeaders: this.#headers,
        responseBody: this.#size === 0 ? '' : textOf(this.#chunks),
        retryAfter: this.#headers['retry-after'],
        durationMs,
      });
    }
  }
}

type ResponseHeaders = Record<string, string | string[] | undefined>;

function flatHeaders(headers: ResponseHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name] ?? '';
    flat[name] = storable(typeof value === 'string' ? value : value.join(', '));
  }
  return flat;
}

const textOf = (chunks: readonly Buffer[]): string =>
  storable(Buffer.concat(chunks).subarray(0, RESPONSE_MAX_BYTES).toString('utf8'));

/** PostgreSQL's text cannot hold U+0000. */
const storable = (text: string): string => text.replaceAll('\0', '');

/**
 * Why no response came. The texts of Node name the address that was called, which the recipients of the log may not
 * learn: the address behind a name can be private where the operator allows its range.
 */
function describe(error: unknown): Pick<AttemptOutcome, 'errorKind' | 'error'> {
  const { kind, message, code } = outboundFailure(error);
  if (kind === 'refused') return { errorKind: 'refused', error: message };
  return { errorKind: 'network', error: code === undefined ? FAILED : `${NETWORK_ERRORS[code] ?? FAILED} (${code})` };
}

const FAILED = 'the request failed';
const NETWORK_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'the host is not reachable',
  ENETUNREACH: 'the network of the host is not reachable',
  ENOTFOUND: 'the name of the host is not known',
  EAI_AGAIN: 'the name of the host could not be looked up',
  UND_ERR_SOCKET: 'the connection was closed',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  HPE_INVALID_CONSTANT: 'the answer is not HTTP',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate cannot be verified',
};
