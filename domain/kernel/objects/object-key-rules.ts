const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,200}$/;

/**
 * Key of an object: the tenant, then what it is of, then its name. Throws when a segment could mean anything else than
 * itself in a path or an address.
 */
export function objectKey(tenantId: string, ...segments: readonly string[]): string {
  const all = [tenantId, ...segments];
  const odd = all.find((segment) => !SEGMENT.test(segment));
  if (odd !== undefined) throw new Error(`A key of an object cannot hold the segment ${JSON.stringify(odd)}`);
  return all.join('/');
}
