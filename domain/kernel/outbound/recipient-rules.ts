/**
 * Whether a secret that was entered for one address may be sent to another: whoever may change an address must not get
 * hold of a secret that somebody else entered. Compared as URLs, so that another spelling is the same address.
 * @param by `origin` for systems of which one host serves all paths; `address` where recipients share a host and are told
 * apart by path and query, as receivers of webhooks are. Null: the public service of the system.
 */
export function isSameRecipient(before: string | null, after: string | null, by: 'origin' | 'address'): boolean {
  if (before === null || after === null) return before === after;
  const [old, next] = [URL.parse(before), URL.parse(after)];
  if (!old || !next) return false;
  const isSameOrigin = old.protocol === next.protocol && old.host === next.host;
  return isSameOrigin && (by === 'origin' || (old.pathname === next.pathname && old.search === next.search));
}
