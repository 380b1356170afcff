/** How many series of all tenants are remembered: an id takes some 150 bytes. */
const REMEMBERED_MAX = 200_000;

/**
 * Series that rows exist of, as this process has seen. One of them may have been forgotten since: then the foreign key
 * of its windows says so.
 */
export interface KnownSeries {
  /** The ones of some ids that were not seen. */
  without: (tenantId: string, ids: readonly string[]) => string[];
  /** They were committed. */
  add: (tenantId: string, ids: Iterable<string>) => void;
  clear: () => void;
}

/** An empty memory of series. */
export function createKnownSeries(): KnownSeries {
  const byTenant = new Map<string, Set<string>>();
  let size = 0;
  const clear = () => {
    byTenant.clear();
    size = 0;
  };
  return {
    without(tenantId, ids) {
      const seen = byTenant.get(tenantId);
      return seen ? ids.filter((id) => !seen.has(id)) : [...ids];
    },
    add(tenantId, ids) {
      if (size > REMEMBERED_MAX) clear();
      const seen = byTenant.get(tenantId) ?? new Set();
      byTenant.set(tenantId, seen);
      const before = seen.size;
      for (const id of ids) seen.add(id);
      size += seen.size - before;
    },
    clear,
  };
}
