import { REDACTED } from '../../kernel/audit/audit-rules.ts';

/** Headers that belong to the transport or to the signature, and that a webhook cannot set. */
const RESERVED = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'traceparent',
  'tracestate',
]);

export const HEADERS_MAX = 50;
const HEADER_VALUE_MAX = 4_096;

/** Why a header cannot be sent; undefined if it can. */
export function refusedHeader(name: string, value: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name)) return 'not a valid header name';
  if (RESERVED.has(name.toLowerCase())) return 'set by the service itself';
  if (value.length > HEADER_VALUE_MAX || !/^[\t\x20-\x7e\xa0-\xff]*$/.test(value)) return 'not a valid header value';
  return undefined;
}

const SECRET_NAME = /auth|cookie|token|secret|key|signature|password|passwd|credential|session/i;
const SECRET_VALUE = /^(bearer|basic|token|digest)\s/i;

const isHidden = ([name, value]: [string, string]): boolean => SECRET_NAME.test(name) || SECRET_VALUE.test(value);

/** Headers as they are shown and logged: without the values that look like secrets. */
export const redactedHeaders = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isHidden([name, value]) ? REDACTED : value]),
  );

/**
 * The headers of a webhook after an update. A redacted value that is sent back keeps the stored one, unless the webhook
 * has another recipient now: values that are hidden do not follow it.
 * @param given undefined: the update names no headers.
 * @returns also the names of those that were dropped.
 */
export function updatedHeaders(
  before: Record<string, string>,
  given: Record<string, string> | undefined,
  isNewRecipient: boolean,
): { headers: Record<string, string>; dropped: string[] } {
  const kept = new Map(
    Object.entries(before)
      .filter((header) => !isNewRecipient || !isHidden(header))
      .map(([name, value]) => [name.toLowerCase(), value]),
  );
  const wanted = Object.entries(given ?? redactedHeaders(before));
  const dropped = wanted.filter(([name, value]) => value === REDACTED && !kept.has(name.toLowerCase()));
  const headers = wanted
    .map(([name, value]) => [name, value === REDACTED ? kept.get(name.toLowerCase()) : value])
    .filter((header): header is [string, string] => header[1] !== undefined);
  return { headers: Object.fromEntries(headers), dropped: dropped.map(([name]) => name) };
}
