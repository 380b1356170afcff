import { MOCK_KEY } from '../mock-keys.ts';
import { isLoopbackHost } from '../../kernel/outbound/host-rules.ts';
import { literalHost, type OutboundAddresses } from '../../kernel/outbound/outbound-addresses.ts';
import type { OwnListeners } from '../../kernel/outbound/own-listeners.ts';

/** Where a request to a mock workspace of the service goes. */
export interface OwnTarget {
  /** The origin at which the service's own processes reach it. */
  origin: string;
  /** The host that the request names, as mocks may answer at that one alone. */
  host: string;
  /** With query. */
  path: string;
}

/** Tells addresses of the service from those of others; undefined: not the service's. */
export type FindOwn = (url: string) => OwnTarget | 'refused' | undefined;

/** Addresses that hosts of integrations and orgs may have: the permitted ones, and the service's own mock workspaces. */
export interface HostAddresses extends OutboundAddresses {
  /** Absent: the service's own address is as any other. */
  findOwn?: FindOwn;
}

const REFUSED = 'of the service itself, only addresses below /mocks/{key} may be called';
const UPSTREAM = 'the service itself is no upstream of a mock scenario';

/**
 * The mock workspaces at the service's own address, and nothing else there: whatever a proxy or a router may make of
 * encoded slashes and dots, the path stays below `/mocks/{key}`.
 * @param publicUrl as clients write it, without a trailing slash. @param mocksUrl likewise, where mocks have an address of
 * their own. @param internalUrl where requests go; they name the host of the mocks.
 */
export function findOwnMocks({
  publicUrl,
  mocksUrl = publicUrl,
  internalUrl,
}: {
  publicUrl: string;
  mocksUrl?: string;
  internalUrl: string;
}): FindOwn {
  const internal = new URL(internalUrl);
  const { host } = new URL(mocksUrl);
  const bases = [new URL(mocksUrl), new URL(publicUrl), internal].map((base) => ({
    origin: plainOrigin(base),
    path: base.pathname.replace(/\/$/, ''),
  }));
  return (url) => {
    const parsed = URL.parse(url);
    const base = parsed && bases.find(({ origin }) => origin === plainOrigin(parsed));
    if (!base) return undefined;
    const plain = plainPath(parsed.pathname);
    // Another service may have the rest of the host.
    if (plain !== base.path && !plain.startsWith(`${base.path}/`)) return undefined;
    const root = `${base.path}/mocks/`;
    const [key = ''] = parsed.pathname.slice(root.length).split('/', 1);
    const workspace = root + key;
    const isMock =
      parsed.pathname.startsWith(root) &&
      MOCK_KEY.test(key) &&
      (plain === workspace || plain.startsWith(`${workspace}/`)) &&
      parsed.username === '' &&
      parsed.password === '';
    if (!isMock) return 'refused';
    const below = parsed.pathname.slice(base.path.length);
    return { origin: internal.origin, host, path: internal.pathname.replace(/\/$/, '') + below + parsed.search };
  };
}

/** Permits the service's own mock workspaces beside what is permitted, and nothing else of the service. */
export const withOwnMocks = (addresses: OutboundAddresses, findOwn: FindOwn): HostAddresses => ({
  ...addresses,
  findOwn,
  refusedUrl(url) {
    const own = findOwn(url);
    if (own === undefined) return addresses.refusedUrl(url);
    return own === 'refused' ? REFUSED : undefined;
  },
});

/**
 * Permits nothing of the service, by whatever name it is reached on this machine: a scenario that passes requests on to
 * itself would never end. Where a proxy leads back to it, the mock server knows the request, see `PASSED_BY_HEADER`.
 */
export function withoutOwn(
  addresses: OutboundAddresses,
  findOwn: FindOwn,
  listeners: Pick<OwnListeners, 'has'>,
): OutboundAddresses {
  const isListening = (url: string): boolean => {
    const parsed = URL.parse(url);
    if (!parsed) return false;
    const ip = literalHost(parsed.hostname);
    return ip !== undefined && listeners.has(ip, portOf(parsed));
  };
  return {
    ...addresses,
    refusedUrl: (url) =>
      addresses.refusedUrl(url) ?? (findOwn(url) === undefined && !isListening(url) ? undefined : UPSTREAM),
    refusedPeer: (ip, port) => (listeners.has(ip, port) ? UPSTREAM : undefined),
  };
}

const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === 'https:' ? 443 : 80);

const NO_ORIGIN = 'requests are passed on only where MOCKS_URL gives mocks an origin of their own';

/** Permits nothing: what an upstream answers would have the origin of the service. */
export const withoutAny = (addresses: OutboundAddresses): OutboundAddresses => ({
  ...addresses,
  refusedUrl: (url) => addresses.refusedUrl(url) ?? NO_ORIGIN,
});

/** An origin with one spelling of a host: without the dot of the root, this machine by one name. */
function plainOrigin({ protocol, hostname, port }: URL): string {
  const host = hostname.replace(/\.$/, '');
  return `${protocol}//${isLoopbackHost(host) ? 'localhost' : host}:${port}`;
}

/** A path as it reads once everybody on its way has decoded slashes and dots, and has resolved the dots. */
function plainPath(pathname: string): string {
  let path = pathname;
  for (let before = ''; before !== path; ) {
    before = path;
    path = path
      .replaceAll(/%25/g, '%')
      .replaceAll(/%2e/gi, '.')
      .replaceAll(/%2f|%5c|\\/gi, '/');
  }
  const segments: string[] = [];
  for (const segment of path.split('/').slice(1)) {
    if (segment === '..') segments.pop();
    else if (segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}
