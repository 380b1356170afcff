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

/** The parameters of a front-door link: `targetOrg:name,repository:owner/repo,prodOrg:name`; unknown names are passed over. */
export interface FrontDoorLink {
  targetOrg: string;
  repository?: string;
  prodOrg?: string;
}

/** User names and aliases of orgs look like e-mail addresses or words. */
const ORG = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,254}$/;
const REPOSITORY = /^[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._ -]+){1,2}$/;

/** Undefined for a link that names no org, names a thing twice, or names what cannot be one. */
export function parseFrontDoorLink(params: string): FrontDoorLink | undefined {
  const found = new Map<string, string>();
  for (const pair of params.split(',')) {
    const at = pair.indexOf(':');
    const name = pair.slice(0, at).trim();
    if (at < 1 || found.has(name)) return undefined;
    found.set(name, pair.slice(at + 1).trim());
  }
  const [targetOrg, repository, prodOrg] = ['targetOrg', 'repository', 'prodOrg'].map((name) => found.get(name));
  if (targetOrg === undefined || !ORG.test(targetOrg)) return undefined;
  if (repository !== undefined && !REPOSITORY.test(repository)) return undefined;
  if (prodOrg !== undefined && !ORG.test(prodOrg)) return undefined;
  return { targetOrg, ...(repository !== undefined && { repository }), ...(prodOrg !== undefined && { prodOrg }) };
}
