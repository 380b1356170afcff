import type { Readable } from 'node:stream';
import {
  type ApiUsage,
  type CrmAnswer,
  type CrmFailure,
  TOO_LARGE,
} from '../../../domain/orgs/crm/crm-platform.port.ts';
import { permittedOrigin } from '../../../domain/orgs/crm/org-origin.ts';
import { failure, malformed } from '../../../domain/orgs/crm/platform-error-rules.ts';
import type { HostAddresses } from '../../../domain/mocks/serving/own-mocks.ts';
import {
  createOutboundHttp,
  headerOf,
  type OutboundCall,
  type OutboundFailure,
  type OutboundReply,
} from '../outbound/outbound-http.ts';

export const JSON_MAX_BYTES = 16 * 1_048_576;

export interface CrmTimeouts {
  /** Time for a call, from the request to the last byte of the answer. */
  callMs: number;
  /** Time for fetching an archive. */
  downloadMs: number;
}

export interface CrmCall {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Origin of the org or login host, or address of a mock workspace. */
  origin: string;
  /** With query; begins with a slash. */
  path: string;
  headers?: Record<string, string>;
  /** A stream is sent as it is read; its length is in `headers`. */
  body?: string | Readable;
  timeoutMs: number;
  /** Bytes of the answer; default: `JSON_MAX_BYTES`. */
  maxBytes?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface CrmResponse extends Pick<OutboundReply, 'status' | 'body'> {
  contentType: string;
  usage: ApiUsage | undefined;
}

/** The answer is not what the interface promises; thrown by readers of bodies. */
export class MalformedAnswer extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Sends one request and reads its answer; every failure on the way is a value. An aborted `signal` is thrown. */
export type SendCrm = <Value>(
  call: CrmCall,
  read: (response: CrmResponse) => Promise<CrmAnswer<Value>>,
) => Promise<CrmAnswer<Value>>;

/** Calls permitted addresses only, over connections that are kept open, and follows no redirects. */
export function createCrmHttp(addresses: HostAddresses): { send: SendCrm; close: () => Promise<void> } {
  const http = createOutboundHttp(addresses);
  const send: SendCrm = async ({ origin, path, headers, maxBytes = JSON_MAX_BYTES, ...call }, read) => {
    const permitted = permittedOrigin(origin, addresses);
    if (!permitted.isOk) return refusedAddress(permitted.reason);
    const outbound = {
      ...call,
      url: permitted.origin + path,
      headers: { accept: 'application/json', ...headers },
      maxBytes,
    };
    const answer = await http.send(outbound, ({ status, headers: received, body }) =>
      read({
        status,
        contentType: headerOf(received, 'content-type') ?? '',
        usage: usageOf(headerOf(received, 'sforce-limit-info')),
        body,
      }).catch(malformedAnswer),
    );
    if (answer.isOk) return answer.value;
    call.signal?.throwIfAborted();
    return failureOf(answer, outbound);
  };
  return { send, close: http.close };
}

/** A success that is not JSON. */
export const notJson = ({ contentType }: Pick<CrmResponse, 'contentType'>): CrmFailure =>
  /html/i.test(contentType)
    ? malformed('HTML', 'A page came instead of an answer.')
    : malformed('NOT_JSON', 'The answer is not the JSON that the interface promises.');

/** `api-usage=18/15000`, perhaps with `per-app-api-usage=17/250(appName=…)` behind it. */
function usageOf(header = ''): ApiUsage | undefined {
  const [, used, max] = /(?:^|[\s;,])api-usage=(\d+)\/(\d+)/.exec(header) ?? [];
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

function failureOf({ kind, message }: OutboundFailure, { timeoutMs = 0, maxBytes }: OutboundCall): CrmFailure {
  if (kind === 'refused') return refusedAddress(`is refused: ${message}`);
  if (kind === 'timeout') return timedOut(timeoutMs);
  if (kind === 'too_large') return malformed(TOO_LARGE, `The answer is larger than ${maxBytes} bytes.`);
  return failure(
    'unreachable',
    null,
    'The org could not be reached.',
    'Check the address of the org, and try again later.',
  );
}

function malformedAnswer(error: unknown): CrmFailure {
  if (error instanceof MalformedAnswer) return malformed(error.code, error.message);
  throw error;
}
