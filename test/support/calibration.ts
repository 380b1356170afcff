import { createHash } from 'node:crypto';

/** CPU that one round took on the machine on which the budgets were written, with nothing beside it. */
const REFERENCE_MS = 10;

/**
 * Does a fixed piece of work, as tests do: objects, text, numbers, hashes. Answers how many times as much CPU as on the
 * machine of the budgets it took: a slower machine, and one whose cores are shared, needs more for the same.
 */
export function slowness(): number {
  const before = process.cpuUsage();
  const rows = Array.from({ length: 8_000 }, (_, id) => ({ id, name: `row-${(id * 7919) % 8_000}`, at: id * 1.5 }));
  const sorted = rows.toSorted((a, b) => a.name.localeCompare(b.name));
  const text = JSON.stringify(sorted);
  const back = JSON.parse(text) as typeof rows;
  createHash('sha256').update(text).update(String(back.length)).digest();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / REFERENCE_MS;
}
