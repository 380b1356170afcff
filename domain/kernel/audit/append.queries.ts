import { sql } from 'kysely';
import type { JsonText } from '../data/columns.ts';
import { type Slots, statement } from '../data/statement.ts';
import type { Database } from '../data/tables.ts';
import type { Topic } from '../changes/topic-rules.ts';
import type { Actor } from '../shared/actor.ts';
import { newId } from '../shared/ids.ts';
import { type AuditSource, canonicalJson, canonicalParts, type UnchainedEntry } from './audit-rules.ts';

/** What a mutation records of itself; the unit of work adds who, when and by which request. */
export interface AuditNote {
  source: AuditSource;
  action: string;
  entityType: Topic;
  entityId?: string | null;
  repositoryIdentifier?: string | null;
  /** One sentence for a reader of the trail. */
  summary: string;
  /** The state before and after; the caller leaves secrets out (see `redact`). */
  before?: unknown;
  after?: unknown;
}

/** Makes an entry that lacks only its place in the chain. */
export function unchainedEntry(
  note: AuditNote,
  actor: Actor,
  requestId: string | null,
  occurredAt: Date,
): UnchainedEntry {
  return {
    id: newId(),
    occurredAt: occurredAt.toISOString(),
    source: note.source,
    action: note.action,
    actor: { type: actor.type, id: actor.id, email: actor.email },
    repositoryIdentifier: note.repositoryIdentifier ?? null,
    entityType: note.entityType,
    entityId: note.entityId ?? null,
    summary: note.summary,
    before: canonicalJson(note.before),
    after: canonicalJson(note.after),
    requestId,
  };
}

/** An entry as `audit_append` takes it. */
export interface AppendedEntry extends Omit<UnchainedEntry, 'before' | 'after'> {
  before: unknown;
  after: unknown;
  head: string;
  middle: string;
  tail: string;
}

export function appendedText(entry: UnchainedEntry): JsonText<AppendedEntry> {
  const { before, after, ...rest } = entry;
  const [head, middle, tail] = canonicalParts(entry);
  const named = JSON.stringify({ ...rest, head, middle, tail });
  return `${named.slice(0, -1)},"before":${before},"after":${after}}` as JsonText<AppendedEntry>;
}

/** Entries that are appended together. */
export interface Appended {
  tenantId: string;
  entries: JsonText<AppendedEntry[]>;
}

/** The functions that extend a chain: that of browser hosts takes nothing but what they do with sessions. */
export type AuditFunction = 'audit_append' | 'audit_append_of_browsers';

/** Extends a tenant's chain. It locks the head of the chain until the transaction ends, so it goes last. */
export const appending = ({ tenantId, entries }: Slots<Appended>, by: AuditFunction) =>
  sql`${sql.id(by)}(${tenantId}::uuid, ${entries}::jsonb)`.as('appended');

const APPEND = statement<Appended, AuditFunction>()((db, given, by) => db.selectNoFrom(appending(given, by)));

export const appendParameters = (tenantId: string, entries: readonly UnchainedEntry[]): Appended => ({
  tenantId,
  entries: `[${entries.map(appendedText).join(',')}]` as JsonText<AppendedEntry[]>,
});

export async function appendEntries(
  db: Database,
  tenantId: string,
  entries: readonly UnchainedEntry[],
  by: AuditFunction,
): Promise<void> {
  await APPEND(db, appendParameters(tenantId, entries), by);
}
