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
  'mock',
  'browser',
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

/** JSON with sorted keys and no white space (RFC 8785), for values that came from JSON or go into it, as dates do. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const object = value as Record<string, unknown>;
  if (typeof object.toJSON === 'function') return canonicalJson(object.toJSON());
  let members = '';
  for (const key of Object.keys(object).toSorted()) {
    if (object[key] === undefined) continue;
    members += `${members === '' ? '' : ','}${quoted(key)}:${canonicalJson(object[key])}`;
  }
  return `{${members}}`;
}

/** What JSON escapes, lone surrogates included. */
const ESCAPED = /["\\\p{Cc}\p{Cs}]/u;

/** Most texts need no escapes, and a trail has millions of them. */
const quoted = (text: string): string => (ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`);

/** All that is known of an entry before its place in the chain; what may be large is kept as text alone. */
export interface UnchainedEntry extends Omit<AuditEntry, 'sequence' | 'prevHash' | 'hash' | 'before' | 'after'> {
  /** Canonical JSON. */
  before: string;
  after: string;
}

/**
 * The canonical entry in three parts, between which the database puts `prevHash` and `sequence`, so that the chain's
 * head is locked only for the one statement that appends. Members are in sorted order:
 * `…occurredAt`, **prevHash**, `repositoryIdentifier, requestId`, **sequence**, `source, summary`.
 * @param actor canonical JSON of the actor.
 */
export function canonicalParts(
  entry: UnchainedEntry,
  actor = canonicalJson(entry.actor),
): [head: string, middle: string, tail: string] {
  const { action, after, before, entityId, entityType, id, occurredAt } = entry;
  const { repositoryIdentifier, requestId, source, summary } = entry;
  const about = `"action":${quoted(action)},"actor":${actor},"after":${after},"before":${before}`;
  const what = `"entityId":${canonicalJson(entityId)},"entityType":${quoted(entityType)},"id":${quoted(id)},"occurredAt":${quoted(occurredAt)}`;
  return [
    `{${about},${what},"prevHash":"`,
    `","repositoryIdentifier":${canonicalJson(repositoryIdentifier)},"requestId":${canonicalJson(requestId)},"sequence":`,
    `,"source":${quoted(source)},"summary":${quoted(summary)}}`,
  ];
}

/**
 * The text over which `hash` is taken.
 * @param actor canonical JSON of the actor, where it is known.
 */
export function hashedText(entry: Omit<AuditEntry, 'hash'>, actor?: string): string {
  const states = { before: canonicalJson(entry.before), after: canonicalJson(entry.after) };
  const [head, middle, tail] = canonicalParts({ ...entry, ...states }, actor);
  return `${entry.prevHash}${head}${entry.prevHash}${middle}${entry.sequence}${tail}`;
}

/** A copy without the values of the named members, at any depth; absent members stay absent. */
export function redact(value: unknown, secretMembers: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => redact(item, secretMembers));
  if (value === null || typeof value !== 'object' || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      secretMembers.includes(key) ? REDACTED : redact(member, secretMembers),
    ]),
  );
}
