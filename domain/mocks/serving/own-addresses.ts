/**
 * A text of an answer with the address of the mock server where it has that of the upstream, so that clients that follow
 * links stay with the scenario. In JSON a slash may be escaped.
 */
export function withOwnAddresses(bytes: Buffer, contentType: string, upstream: string, baseUrl: string): Buffer {
  const from = upstream.replace(/\/$/, '');
  const escaped = from.replaceAll('/', String.raw`\/`);
  if (!/json|xml|text|javascript|urlencoded|^$/i.test(contentType)) return bytes;
  if (!bytes.includes(from) && !bytes.includes(escaped)) return bytes;
  // One byte a character: what is no UTF-8 stays as it is.
  const text = bytes.toString('latin1');
  return Buffer.from(
    replaced(replaced(text, from, baseUrl), escaped, baseUrl.replaceAll('/', String.raw`\/`)),
    'latin1',
  );
}

/** A header's value in which addresses of the upstream are those of this service. */
export const headerWithOwnAddresses = (value: string, upstream: string, baseUrl: string): string =>
  replaced(value, upstream.replace(/\/$/, ''), baseUrl);

/** Not the beginning of a longer host or port: `https://example.com.au`. */
function replaced(text: string, from: string, to: string): string {
  let result = '';
  let at = 0;
  for (;;) {
    const found = text.indexOf(from, at);
    if (found === -1) return result + text.slice(at);
    const end = found + from.length;
    result +=
      text.slice(at, found) +
      (/[\w.:-]/.test(text.charAt(end)) && !/^[.:](\s|$)/.test(text.slice(end, end + 2)) ? from : to);
    at = end;
  }
}
