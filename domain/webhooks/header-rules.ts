import { REDACTED } from '../audit/audit-rules.ts';

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

/** Headers as they are shown and logged: without the values that look like secrets. */
export const redactedHeaders = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      SECRET_NAME.test(name) || SECRET_VALUE.test(value) ? REDACTED : value,
    ]),
  );

/** Headers of an update: a redacted value that is sent back keeps the stored one. */
export const restoredHeaders = (
  given: Record<string, string>,
  before: Record<string, string>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, value === REDACTED ? (before[name] ?? value) : value]),
  );
