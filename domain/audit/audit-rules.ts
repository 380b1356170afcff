export const AUDIT_SOURCES = [
  'integration',
  'approval',
  'variable',
  'environment',
  'slack',
  'user',
  'project',
  'release',
  'webhook',
  'flow',
  'document',
  'crm',
  'system',
] as const;
export type AuditSource = (typeof AUDIT_SOURCES)[number];

/** What the first entry of a chain names as its predecessor. */
export const GENESIS_HASH = '0'.repeat(64);

export const REDACTED = '[redacted]';

/** An entry as readers see it. */
export interface AuditEntry {
  id: string;
  /** Counts per tenant from 1, without gaps. */
  sequence: number;
  /** ISO 8601, milliseconds. */
  occurredAt: string;
  source: AuditSource;
  /** Dotted: `release_candidate.status_changed`. */
  action: string;
  actor: { type: string; id: string; email: string };
  repositoryIdentifier: string | null;
  entityType: string;
  entityId: string | null;
  summary: string;
  before: unknown;
  after: unknown;
  requestId: string | null;
  /** Hex SHA-256 of the entry before it. */
  prevHash: string;
  /** Hex SHA-256 of `prevHash` followed by the canonical entry. */
  hash: string;
}

/** JSON with sorted keys and no white space (RFC 8785), for values that came from JSON. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`;
}

/** All that is known before the entry's place in the chain is. */
export type UnchainedEntry = Omit<AuditEntry, 'sequence' | 'prevHash' | 'hash'>;

/**
 * The canonical entry in three parts, between which the database puts `prevHash` and `sequence`, so that the chain's
 * head is locked only for the one statement that appends. Members stand in sorted order:
 * `…occurredAt`, **prevHash**, `repositoryIdentifier, requestId`, **sequence**, `source, summary`.
 */
export function canonicalParts(entry: UnchainedEntry): [head: string, middle: string, tail: string] {
  const { action, actor, after, before, entityId, entityType, id, occurredAt } = entry;
  const { repositoryIdentifier, requestId, source, summary } = entry;
  const headJson = canonicalJson({ action, actor, after, before, entityId, entityType, id, occurredAt });
  const middleJson = canonicalJson({ repositoryIdentifier, requestId });
  const tailJson = canonicalJson({ source, summary });
  return [`${headJson.slice(0, -1)},"prevHash":"`, `",${middleJson.slice(1, -1)},"sequence":`, `,${tailJson.slice(1)}`];
}

/** The text over which `hash` is taken. */
export function hashedText({ hash: _, ...entry }: AuditEntry): string {
  return entry.prevHash + canonicalJson(entry);
}

/** A copy without the values of the named members, at any depth; tells absent from redacted. */
export function redact(value: unknown, secretMembers: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => redact(item, secretMembers));
  if (value === null || typeof value !== 'object' || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, secretMembers.includes(key) ? REDACTED : redact(member, secretMembers)]),
  );
}
