const HTTP_DATE = /^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/;

/**
 * Reads `Retry-After` (RFC 9110, 10.2.3): seconds, or an HTTP date. A time in the past is 0; what is neither is
 * undefined.
 */
export function parseRetryAfter(header: string | null | undefined, nowMs: number): number | undefined {
  const value = header?.trim() ?? '';
  if (/^\d{1,10}(\.\d{1,10})?$/.test(value)) return Math.ceil(Number(value) * 1_000);
  const at = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
