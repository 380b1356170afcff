import { type Dispatcher, request } from 'undici';
import type { ApiUsage, CrmAnswer, CrmFailure } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { permittedOrigin } from '../../../domain/orgs/crm/org-origin.ts';
import { failure, malformed } from '../../../domain/orgs/crm/platform-error-rules.ts';
import { RefusedAddressError } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import type { HostAddresses } from '../../../domain/mocks/serving/own-mocks.ts';
import { createHostAgent } from '../git-hosts/host-agent.ts';

export const JSON_MAX_BYTES = 16 * 1_048_576;

export interface CrmTimeouts {
  /** Time for a call, from the request to the last byte of the answer. */
  callMs: number;
  /** Time for fetching an archive. */
  downloadMs: number;
}

export interface CrmCall {
  method: 'GET' | 'POST';
  /** Origin of the org or login host, or address of a mock workspace. */
  origin: string;
  /** With query; begins with a slash. */
  path: string;
  headers?: Record<string, string>;
  body?: string;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

export interface CrmResponse {
  status: number;
  contentType: string;
  usage: ApiUsage | undefined;
  body: AsyncIterable<Buffer>;
}

/** A JSON answer, or undefined where the body is not JSON. */
export interface JsonResponse extends Omit<CrmResponse, 'body'> {
  json: unknown;
  sizeBytes: number;
}

/** The answer is not what the interface promises; thrown by readers of bodies. */
export class MalformedAnswer extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** What failed on this machine while a body was read, in `cause`: not the org's fault, and thrown. */
export class LocalFailure extends Error {}

/** Sends one request and reads its answer; every failure on the way is a value. An aborted `signal` is thrown. */
export type SendCrm = <Value>(
  call: CrmCall,
  read: (response: CrmResponse) => Promise<CrmAnswer<Value>>,
) => Promise<CrmAnswer<Value>>;

/** Calls permitted addresses only, over connections that are kept open, and follows no redirects. */
export function createCrmHttp(addresses: HostAddresses): { send: SendCrm; close: () => Promise<void> } {
  // Each call has a clock of its own, which undici's would end early or late.
  const dispatcher = createHostAgent(addresses, { headersTimeout: 0, bodyTimeout: 0 });
  const send: SendCrm = async ({ method, origin, path, headers, body, timeoutMs, signal }, read) => {
    const permitted = permittedOrigin(origin, addresses);
    if (!permitted.isOk) return refusedAddress(permitted.reason);
    const clock = AbortSignal.timeout(timeoutMs);
    let response: Dispatcher.ResponseData | undefined;
    try {
      response = await request(permitted.origin + path, {
        method,
        dispatcher,
        signal: signal ? AbortSignal.any([signal, clock]) : clock,
        headers: { accept: 'application/json', 'user-agent': 'quayside', ...headers },
        ...(body !== undefined && { body }),
      });
      return await read({
        status: response.statusCode,
        contentType: String(response.headers['content-type'] ?? ''),
        usage: usageOf(response.headers['sforce-limit-info']),
        body: response.body,
      });
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof LocalFailure) throw error.cause;
      if (clock.aborted) return timedOut(timeoutMs);
      return failureOf(error);
    } finally {
      // What was not read to its end would hold the connection.
      response?.body.on('error', () => undefined).destroy();
    }
  };
  return { send, close: () => dispatcher.destroy() };
}

/** Reads a body as JSON; at most 16 MiB. */
export async function readJson({ body, ...response }: CrmResponse, maxBytes = JSON_MAX_BYTES): Promise<JsonResponse> {
  const chunks: Buffer[] = [];
  for await (const chunk of bounded(body, maxBytes)) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  return { ...response, json: parsed(bytes.toString('utf8')), sizeBytes: bytes.length };
}

/** The chunks of a body; throws `MalformedAnswer` when there are more bytes. */
export async function* bounded(body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw new MalformedAnswer('TOO_LARGE', `The answer is larger than ${maxBytes} bytes.`);
    yield chunk;
  }
}

/** A success that is not JSON. */
export const notJson = ({ contentType }: Pick<CrmResponse, 'contentType'>): CrmFailure =>
  /html/i.test(contentType)
    ? malformed('HTML', 'A page came instead of an answer.')
    : malformed('NOT_JSON', 'The answer is not the JSON that the interface promises.');

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `api-usage=18/15000`, perhaps with `per-app-api-usage=17/250(appName=…)` behind it. */
function usageOf(header: string | string[] | undefined): ApiUsage | undefined {
  const [, used, max] = /(?:^|[\s;,])api-usage=(\d+)\/(\d+)/.exec(String(header ?? '')) ?? [];
  return used === undefined ? undefined : { used: Number(used), max: Number(max) };
}

export const refusedAddress = (reason: string): CrmFailure =>
  failure(
    'refused',
    'ADDRESS_REFUSED',
    `The address of the org ${reason}.`,
    'Orgs are called at public https addresses; OUTBOUND_ALLOW opens others.',
  );

export const timedOut = (timeoutMs: number): CrmFailure =>
  failure(
    'timeout',
    null,
    `There was no complete answer within ${timeoutMs} ms.`,
    'The org is slow or hangs; try again later.',
  );

/** The texts of Node name addresses, so only codes are passed on. */
function failureOf(error: unknown): CrmFailure {
  let code: string | undefined;
  for (let cause = error; cause instanceof Error; cause = causeOf(cause)) {
    if (cause instanceof MalformedAnswer) return malformed(cause.code, cause.message);
    if (cause instanceof RefusedAddressError) return refusedAddress(`is refused: ${cause.message}`);
    code ??= (cause as NodeJS.ErrnoException).code;
  }
  // Without a code it is a bug, not the network.
  if (code === undefined) throw error;
  return failure(
    'unreachable',
    null,
    'The org could not be reached.',
    'Check the address of the org, and try again later.',
  );
}

const causeOf = (error: Error): unknown =>
  error instanceof AggregateError ? (error.errors as unknown[])[0] : error.cause;
