import type { IncomingHttpHeaders } from 'node:http';
import type { HostAnswer, LogPart, OpenPullRequest, WantedLog } from '../../../domain/code/git-hosts/git-host.port.ts';
import { wholeBytes } from '../../../domain/kernel/shared/whole-bytes.ts';
import type { HostAddresses } from '../../../domain/mocks/serving/own-mocks.ts';
import { createOutboundHttp, jsonOf, OutboundFailure } from '../outbound/outbound-http.ts';
import { limitedForMs, unanswered } from './host-failures.ts';
import { readText } from './host-text.ts';

const TIMEOUT_MS = 20_000;
const ANSWER_MAX_BYTES = 1_048_576;
/** Refused temporarily, before anything was done. */
const BUSY = new Set([425, 429, 503]);
/** Failed somewhere on the way: the request may have been executed. */
const BROKEN = new Set([408, 500, 502, 504]);
export interface HostCall {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  body?: unknown;
  /** Further statuses that count as success; `all`: every one does. */
  acceptedStatuses?: readonly number[] | 'all';
  /** Most bytes of the response's body; a longer response counts as none. */
  maxBytes?: number;
}

/** A response of success, or of an accepted status. */
export interface HostReply {
  status: number;
  headers: IncomingHttpHeaders;
  /** Undefined when it is not JSON. */
  json: unknown;
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
/** Sends a call as `CallHost` does, and answers status and headers beside the body. */
export type ExchangeWithHost = (name: string, call: HostCall) => Promise<HostAnswer<HostReply>>;

/** Reads a text of a host, such as a log, from a position on; the host may redirect to where it keeps it. */
export type ReadHostText = (name: string, order: TextOrder, wanted: WantedLog) => Promise<HostAnswer<LogPart>>;

/** A text of a host. `credentials`: headers that go to the host alone; `secret`: what the text must not show. */
export interface TextOrder {
  url: string;
  credentials: Record<string, string>;
  secret: string;
}

export interface HostHttp {
  call: CallHost;
  readText: ReadHostText;
  exchange: ExchangeWithHost;
  close: () => Promise<void>;
}

/** Calls only permitted addresses, over connections that are kept open, and follows no redirects. */
export function createHostHttp(addresses: HostAddresses, timeoutMs = TIMEOUT_MS): HostHttp {
  const http = createOutboundHttp(addresses);
  const exchange: ExchangeWithHost = async (
    name,
    { method, url, headers, body, acceptedStatuses = [], maxBytes = ANSWER_MAX_BYTES },
  ) => {
    const sent = await http.send(
      {
        method,
        url,
        headers: {
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        timeoutMs,
        maxBytes,
      },
      async (reply) => ({ ...reply, json: jsonOf(await wholeBytes(reply.body).catch(nothingIfTooLarge)) }),
    );
    if (!sent.isOk) return unanswered(sent, name);
    const { status, headers: received, json } = sent.value;
    if (status < 300 || acceptedStatuses === 'all' || acceptedStatuses.includes(status))
      return { isOk: true, value: { status, headers: received, json } };
    const message = errorMessage(asObject(json));
    const retryAfterMs = limitedForMs(status, received, { message, nowMs: Date.now() });
    const mayBeDone = BROKEN.has(status);
    return {
      isOk: false,
      isTransient: retryAfterMs !== undefined || BUSY.has(status) || mayBeDone,
      mayBeDone,
      reason: `${name} answered ${status}${message}`,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    };
  };
  return {
    exchange,
    async call(name, order) {
      const answer = await exchange(name, order);
      return answer.isOk ? { isOk: true, value: asObject(answer.value.json) } : answer;
    },
    readText: (name, order, wanted) => readText(http, name, { ...order, timeoutMs }, wanted),
    close: http.close,
  };
}

function nothingIfTooLarge(error: unknown): Buffer {
  if (error instanceof OutboundFailure && error.kind === 'too_large') return Buffer.alloc(0);
  throw error;
}

const asObject = (json: unknown): HostJson => (typeof json === 'object' && json !== null ? (json as HostJson) : {});

/** The host's error message, if it is a text. */
const errorMessage = ({ message }: HostJson): string =>
  typeof message === 'string' ? `: ${message.slice(0, 300)}` : '';

/** An id or a text of a response; null when it is neither. */
export const textOf = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : null;

/** The result of a call whose response is not needed. */
export const withoutValue = (answer: HostAnswer<unknown>): HostAnswer<null> =>
  answer.isOk ? { isOk: true, value: null } : answer;

/** The objects of a list in a response, as many as hosts list at once. */
export const listOf = (list: unknown): HostJson[] => (Array.isArray(list) ? list.map(asObject) : []);

/** The first element of a list in a response; undefined where it has none. */
const firstOf = (list: unknown): HostJson | undefined =>
  Array.isArray(list) && list.length > 0 ? asObject(list[0]) : undefined;

/** A pull request as a host answered it; what has no number is no answer. */
export function openedAs(name: string, number: unknown, url: string | null): HostAnswer<OpenPullRequest> {
  if (Number.isInteger(number)) return { isOk: true, value: { number: Number(number), url } };
  return {
    isOk: false,
    isTransient: true,
    mayBeDone: true,
    reason: `${name} answered something else than a pull request`,
  };
}

/** What a host lists first, or makes where it lists nothing. @param listIn where a reply has its list. */
export async function findOrCreate(
  call: CallHost,
  name: string,
  { find, listIn, create }: { find: HostCall; listIn: (reply: HostJson) => unknown; create: HostCall },
): Promise<HostAnswer<HostJson>> {
  const found = await call(name, find);
  if (!found.isOk) return found;
  const first = firstOf(listIn(found.value));
  return first ? { isOk: true, value: first } : call(name, create);
}
