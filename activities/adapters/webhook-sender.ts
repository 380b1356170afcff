import { Agent, type Dispatcher, request } from 'undici';
import type { OutboundAddresses } from '../../domain/webhooks/outbound-addresses.ts';
import type { OutgoingRequest, TryOutcome, WebhookSender } from '../../domain/webhooks/webhook-sender.port.ts';
import { permittedConnector, RefusedAddressError, type Resolver } from './outbound-policy.ts';

/** The log keeps this much of an answer; the rest is not read. */
const RESPONSE_MAX_BYTES = 65_536;
const KEEP_ALIVE_MS = 30_000;

export interface ClosableSender {
  send: WebhookSender;
  close: () => Promise<void>;
}

/** Sends webhooks over connections that are kept open, only to permitted addresses, following no redirect. */
export function createWebhookSender(addresses: OutboundAddresses, resolve?: Resolver): ClosableSender {
  // The try's own clock is the only one: undici's would end long tries early.
  const dispatcher = new Agent({
    connect: permittedConnector(addresses, resolve),
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    send: (outgoing, stop) => sendOnce(dispatcher, addresses, outgoing, stop),
    close: () => dispatcher.destroy(),
  };
}

async function sendOnce(
  dispatcher: Dispatcher,
  addresses: OutboundAddresses,
  outgoing: OutgoingRequest,
  stop: AbortSignal,
): Promise<TryOutcome> {
  const { url, method, headers, body, timeoutMs } = outgoing;
  const began = performance.now();
  const durationMs = () => Math.round(performance.now() - began);
  const refusal = addresses.refusedUrl(url);
  if (refusal !== undefined) return { errorKind: 'refused', error: refusal, durationMs: 0 };

  const cut = new AbortController();
  let isTimedOut = false;
  const clock = setTimeout(() => {
    isTimedOut = true;
    cut.abort();
  }, timeoutMs);
  const onStop = () => cut.abort();
  stop.addEventListener('abort', onStop, { once: true });
  try {
    stop.throwIfAborted();
    const response = await request(url, { method, body, headers, dispatcher, signal: cut.signal });
    const responseBody = await readStart(response.body);
    return {
      statusCode: response.statusCode,
      responseHeaders: flatHeaders(response.headers),
      responseBody,
      retryAfter: flatHeaders(response.headers)['retry-after'],
      durationMs: durationMs(),
    };
  } catch (error) {
    if (stop.aborted) throw stop.reason;
    if (isTimedOut)
      return { errorKind: 'timeout', error: `no answer within ${timeoutMs} ms`, durationMs: durationMs() };
    return { ...describe(error), durationMs: durationMs() };
  } finally {
    clearTimeout(clock);
    stop.removeEventListener('abort', onStop);
  }
}

/** An answer that breaks off or never ends is an answer all the same: its status has come. */
async function readStart(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > RESPONSE_MAX_BYTES) break;
    }
  } catch {
    body.destroy();
  }
  const text = Buffer.concat(chunks).subarray(0, RESPONSE_MAX_BYTES).toString('utf8');
  return storable(text);
}

/** PostgreSQL's text cannot hold U+0000. */
const storable = (text: string): string => text.replaceAll('\0', '');

const flatHeaders = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, storable([value ?? ''].flat().join(', '))]));

function describe(error: unknown): Pick<TryOutcome, 'errorKind' | 'error'> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof RefusedAddressError) return { errorKind: 'refused', error: cause.message };
  }
  if (!(error instanceof Error)) return { errorKind: 'network', error: String(error) };
  // A host with several addresses fails with an AggregateError whose message is empty.
  const [first] = error instanceof AggregateError ? (error.errors as Error[]) : [];
  return { errorKind: 'network', error: storable(error.message || first?.message || error.name) };
}
