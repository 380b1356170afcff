import type { IncomingMessage } from 'node:http';

export type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'httpVersion' | 'headersDistinct'>;

/** A name, which may be empty, or an address, with or without a port (RFC 9110, 7.2). */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d{0,5})?$/i;
/** A path of this service with an optional query: printable ASCII, no fragment, no second slash at the beginning. */
const TARGET = /^\/(?!\/)[!-"$-[\]-~]*$/;

/**
 * Why a request that the parser accepts is refused nevertheless: because a proxy in front might understand it otherwise
 * (RFC 9112, 3.2 and 6.1) or because its target is not well-formed. Undefined for a good one.
 */
export function headProblem({ url = '', httpVersion, headersDistinct: headers }: RequestHead): string | undefined {
  const hosts = headers.host?.length ?? 0;
  if (hosts > 1) return 'There is more than one Host header';
  if (hosts === 0 && httpVersion !== '1.0') return 'There is no Host header';
  if (hosts === 1 && !HOST.test(headers.host?.[0] ?? '')) return 'The Host header is not a host with an optional port';
  const codings = headers['transfer-encoding'];
  if (codings && (httpVersion === '1.0' || codings.length > 1 || !/^chunked$/i.test(codings[0] ?? '')))
    return 'Transfer-Encoding must be chunked, once, and with HTTP/1.1';
  if (!TARGET.test(url)) return 'The request target must be a path of this service, percent-encoded';
  // A path that is not percent-encoded names nothing, as the router finds.
  return isPercentEncoded(url.slice(url.indexOf('?') + 1 || url.length))
    ? undefined
    : 'The query is not percent-encoded UTF-8';
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
