import type { Reads } from '../data/fenced-reads.ts';
import { GENESIS_HASH } from './audit-rules.ts';
import { CELL_COLUMNS } from './audit-list.queries.ts';

/** The end of the trail as it was written. */
export async function chainHead({ db, tenantId }: Reads): Promise<{ sequence: number; hash: string }> {
  const head = await db
    .selectFrom('audit_head')
    .where('tenantId', '=', tenantId)
    .select(['sequence', 'hash'])
    .executeTakeFirst();
  return { sequence: Number(head?.sequence ?? 0), hash: head?.hash ?? GENESIS_HASH };
}

/** Entries in the order of the trail, behind one and up to another. */
export const entriesBetween = ({ db, tenantId }: Reads, after: number, upTo: number, limit: number) =>
  db
    .selectFrom('audit_entry as e')
    .where('e.tenantId', '=', tenantId)
    .where('e.sequence', '>', String(after))
    .where('e.sequence', '<=', String(upTo))
    .orderBy('e.sequence')
    .limit(limit)
    .select(CELL_COLUMNS)
    .execute();

/** An entry with its JSON as the database's text. */
export type EntryCells = Awaited<ReturnType<typeof entriesBetween>>[number];

export async function hashAt({ db, tenantId }: Reads, sequence: number): Promise<string | undefined> {
  const entry = await db
    .selectFrom('audit_entry')
    .where('tenantId', '=', tenantId)
    .where('sequence', '=', String(sequence))
    .select('hash')
    .executeTakeFirst();
  return entry?.hash;
}

/** The first entry behind the head of the trail. Those appended since the head was read are in the head by now. */
export async function sequenceBeyondHead({ db, tenantId }: Reads, head: number): Promise<number | undefined> {
  const entry = await db
    .selectFrom('audit_entry as e')
    .where('e.tenantId', '=', tenantId)
    .where('e.sequence', '>', String(head))
    .where('e.sequence', '>', (eb) => eb.selectFrom('audit_head').where('tenantId', '=', tenantId).select('sequence'))
    .orderBy('e.sequence')
    .limit(1)
    .select('e.sequence')
    .executeTakeFirst();
  return entry && Number(entry.sequence);
}
