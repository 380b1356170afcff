import { sql } from 'kysely';

/**
 * Milliseconds until the first of the selected rows is due and held by nobody; null without rows.
 * @param alias of a table with `due_at` and `lease_until`.
 */
export const untilDue = (alias: string) =>
  sql<
    string | null
  >`extract(epoch from min(greatest(${sql.ref(`${alias}.dueAt`)}, ${sql.ref(`${alias}.leaseUntil`)})) - now()) * 1000`;

/** What `untilDue` found: whole milliseconds, 0 for what is due already; undefined without rows. */
export const msUntilDue = (row: { inMs: string | null } | undefined): number | undefined =>
  row?.inMs == null ? undefined : Math.max(0, Math.ceil(Number(row.inMs)));
