import { Agent, request } from 'undici';
import type { HostAnswer } from '../../domain/git-hosts/git-host.port.ts';
import type { OutboundAddresses } from '../../domain/outbound/outbound-addresses.ts';
import { permittedConnector } from './outbound-policy.ts';

const TIMEOUT_MS = 20_000;
const ANSWER_MAX_BYTES = 1_048_576;
/** Refused temporarily, before anything was done. */
const BUSY = new Set([425, 429, 503]);
/** Failed somewhere on the way: the request may have been carried out. */
const BROKEN = new Set([408, 500, 502, 504]);
/** The connection was not established. */
const UNREACHED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

interface HostCall {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  body?: unknown;
  /** Further statuses that count as success. */
  acceptedStatuses?: readonly number[];
}

/** The address of a git host, and the credential for it. */
export interface HostAccess {
  /** Root of the host's REST interface, without a slash at its end. */
  baseUrl: string;
  token: string;
  /** Empty where the host expects none. */
  username: string;
}

export type HostJson = Record<string, unknown>;
/** Calls a host's REST interface. Every failure is a value, and names the host only by `name`. */
export type CallHost = (name: string, call: HostCall) => Promise<HostAnswer<HostJson>>;

/** Calls only permitted addresses, over connections that are kept open, and follows no redirects. */
export function createHostHttp(addresses: OutboundAddresses): { call: CallHost; close: () => Promise<void> } {
  const dispatcher = new Agent({
    connect: permittedConnector(addresses),
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  const call: CallHost = async (name, { method, url, headers, body, acceptedStatuses = [] }) => {
    const refusal = addresses.refusedUrl(url);
    if (refusal !== undefined)
      return { isOk: false, isTransient: false, mayBeDone: false, reason: `The address of ${name} is not permitted` };
    try {
      const response = await request(url, {
        method,
        dispatcher,
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          accept: 'application/json',
          'user-agent': 'quayside',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const { statusCode } = response;
      const answer = await readJson(response.body);
      if (statusCode < 300 || acceptedStatuses.includes(statusCode)) return { isOk: true, value: answer };
      // GitHub answers 403 with this header when a rate limit is reached.
      const isBusy = BUSY.has(statusCode) || (statusCode === 403 && response.headers['retry-after'] !== undefined);
      const mayBeDone = BROKEN.has(statusCode);
      return {
        isOk: false,
        isTransient: isBusy || mayBeDone,
        mayBeDone,
        reason: `${name} answered ${statusCode}${errorMessage(answer)}`,
      };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return {
        isOk: false,
        isTransient: true,
        mayBeDone: !UNREACHED.has(code ?? ''),
        reason: `${name} could not be reached`,
      };
    }
  };
  return { call, close: () => dispatcher.destroy() };
}

async function readJson(stream: AsyncIterable<Buffer>): Promise<HostJson> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > ANSWER_MAX_BYTES) break;
    chunks.push(chunk);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as HostJson) : {};
  } catch {
    return {};
  }
}

/** The host's error message, if it is a text. */
const errorMessage = ({ message }: HostJson): string =>
  typeof message === 'string' ? `: ${message.slice(0, 300)}` : '';

/** An id or a text of a response; null when it is neither. */
export const textOf = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : null;

/** The result of a call whose response is not needed. */
export const withoutValue = (answer: HostAnswer<unknown>): HostAnswer<null> =>
  answer.isOk ? { isOk: true, value: null } : answer;
