const NAMES_MAX = 1_000;

/**
 * Hosts that Chromium asks by itself, whatever its switches say: updates, sign-in, network time, connectivity, suggestions.
 * Only one that is allowed by its very name is reached.
 */
const BACKGROUND_HOSTS = new Set([
  'accounts.google.com',
  'android.clients.google.com',
  'clients1.google.com',
  'clients2.google.com',
  'clients2.googleusercontent.com',
  'clients3.google.com',
  'clients4.google.com',
  'clientservices.googleapis.com',
  'connectivitycheck.gstatic.com',
  'content-autofill.googleapis.com',
  'dl.google.com',
  'edgedl.me.gvt1.com',
  'mtalk.google.com',
  'optimizationguide-pa.googleapis.com',
  'redirector.gvt1.com',
  'safebrowsing.googleapis.com',
  'safebrowsingohttpgateway.googleapis.com',
  'sb-ssl.google.com',
  'update.googleapis.com',
  'www.google.com',
]);

/** Hosts that a browser may reach, at most 1,000; more are not taken. */
export class HostList {
  readonly #exact = new Set<string>();
  /** With the dot before them. */
  readonly #below = new Set<string>();

  /** @param hosts names, `*.` at the front for all below; or IP addresses. Those that no URL can have are left out. */
  add(hosts: readonly string[]): void {
    for (const host of hosts) {
      const isWildcard = host.startsWith('*.');
      const name = normalHost(isWildcard ? host.slice(2) : host);
      if (name === undefined || this.#exact.size + this.#below.size >= NAMES_MAX) continue;
      if (isWildcard) this.#below.add(`.${name}`);
      else this.#exact.add(name);
    }
  }

  /** @param host as `normalHost` answers it. */
  permits(host: string): boolean {
    if (this.#exact.has(host)) return true;
    if (isBackgroundHost(host)) return false;
    for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1))
      if (this.#below.has(host.slice(dot))) return true;
    return false;
  }
}

export const isBackgroundHost = (host: string): boolean => BACKGROUND_HOSTS.has(host);

/** A host as parsed URLs spell it, without a dot at its end: IPv4 in its usual notation, IPv6 in brackets; undefined: none. */
export function normalHost(host: string): string | undefined {
  if (!/^[^\s/?#@\\]+$/.test(host)) return undefined;
  const bare = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  const url = URL.parse(`http://${bare}`);
  if (!url || url.port !== '' || url.hostname === '') return undefined;
  return url.hostname.replace(/\.$/, '') || undefined;
}

/** The host and port of the target of `CONNECT`; undefined when it is malformed. */
export function authorityOf(target: string): { host: string; port: number } | undefined {
  const [, name = '', digits = ''] = /^(\[[\da-f:.]{2,45}\]|[^\s:/?#@\\[\]]{1,255}):(\d{1,5})$/i.exec(target) ?? [];
  const host = normalHost(name);
  const port = Number(digits);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}
