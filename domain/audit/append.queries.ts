import { newId } from '../shared/ids.ts';
import type { Actor } from '../shared/actor.ts';
import { type AuditSource, canonicalParts, type UnchainedEntry } from './audit-rules.ts';

/** What a mutation says of itself; the unit of work adds who, when and by which request. */
export interface AuditNote {
  source: AuditSource;
  action: string;
  entityType: string;
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
  // Through JSON once: the hash is taken over what the database will give back.
  const plain = (value: unknown): unknown => (value === undefined ? null : JSON.parse(JSON.stringify(value)));
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
    before: plain(note.before),
    after: plain(note.after),
    requestId,
  };
}

/**
 * The one statement that extends a tenant's chain; it locks the chain's head until the transaction ends, so it goes
 * last. Parameters: tenant, and the entries as JSON with their canonical parts.
 */
export const APPEND_AUDIT = 'select audit_append(?::uuid, ?::jsonb)';

/** An entry as `audit_append` takes it. */
export function withCanonicalParts(entry: UnchainedEntry) {
  const [head, middle, tail] = canonicalParts(entry);
  return { ...entry, head, middle, tail };
}

export const appendAuditParameters = (tenantId: string, entries: readonly UnchainedEntry[]): [string, string] => [
  tenantId,
  JSON.stringify(entries.map(withCanonicalParts)),
];
