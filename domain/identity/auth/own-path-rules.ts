/** RFC 3986: no backslash, no blank, no control character. */
const URI_CHARACTERS = /^[A-Za-z0-9._~!$&'()*+,;=:@%/?#[\]-]*$/;

/**
 * Whether a redirect may go there after sign-in: a path of the service itself and nothing that a browser takes for an
 * address elsewhere, such as `//host`, `/\host`, `javascript:`, or any of these behind control characters.
 */
export function isOwnPath(target: string, basePath: string): boolean {
  if (!target.startsWith(`${basePath}/`) || target.length > 2_000 || !URI_CHARACTERS.test(target)) return false;
  const [path = ''] = target.split(/[?#]/);
  // An encoded slash or backslash is decoded by some proxies on the way.
  return (
    !path.includes('//') &&
    !/%(?:2f|5c|0[0-9a-f]|1[0-9a-f]|7f)/i.test(path) &&
    !/(?:^|\/)\.{1,2}(?:\/|$)/.test(decoded(path))
  );
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return '..';
  }
}
