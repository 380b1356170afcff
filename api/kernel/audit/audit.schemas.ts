import { z } from 'zod';
import { AUDIT_SOURCES } from '../../../domain/kernel/audit/audit-rules.ts';
import { EXPORT_STATUSES, KEPT_DAYS } from '../../../domain/kernel/audit/export-rules.ts';
import { JsonObject, DateTime, Name, queryInt, RepositoryIdentifier, Timestamp } from '../../http/parameters.ts';

const filters = {
  source: z.enum(AUDIT_SOURCES).optional(),
  action: Name.optional().meta({ description: 'An action or its prefix', example: 'release_candidate.' }),
  actor: Name.optional().meta({
    description: 'E-mail of a person, `app:<name>` of an application token, or the id of either',
  }),
  repositoryIdentifier: RepositoryIdentifier.optional(),
  entityId: Name.optional(),
  from: DateTime.optional().meta({ description: 'Inclusive' }),
  to: DateTime.optional().meta({ description: 'Exclusive' }),
};

export const AuditQuery = z.strictObject({
  ...filters,
  limit: queryInt(1, 1_000, 50),
  offset: queryInt(0, 999_999_999, 0),
});

const Sequence = z
  .union([z.string(), z.number()])
  .transform(Number)
  .meta({ override: { type: 'integer' } });

export const AuditEntryOut = z.object({
  id: z.uuid(),
  sequence: Sequence,
  occurredAt: Timestamp,
  source: z.string(),
  action: z.string(),
  actor: z.object({ type: z.string(), id: z.string(), email: z.string() }),
  repositoryIdentifier: z.string().nullable(),
  entityType: z.string(),
  entityId: z.string().nullable(),
  summary: z.string(),
  before: z.unknown(),
  after: z.unknown(),
  requestId: z.string().nullable(),
  prevHash: z.string(),
  hash: z.string(),
});

export const AuditPage = z.object({ items: z.array(AuditEntryOut), total: z.int(), limit: z.int(), offset: z.int() });

/** Maximum number of entries checked by one request. */
export const CHECKED_MAX = 1_000_000;

export const VerifyQuery = z.strictObject({
  fromSequence: queryInt(1, 999_999_999, 1),
  toSequence: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'must be a whole number from 1')
    .transform(Number)
    .optional()
    .meta({ override: { type: 'integer', minimum: 1 } }),
});

export const VerifyOut = z.object({
  isIntact: z.boolean(),
  checked: z.int().meta({ description: 'Number of verified entries' }),
  fromSequence: z.int(),
  toSequence: z.int().meta({ description: 'The last entry that was checked' }),
  nextFromSequence: z
    .int()
    .nullable()
    .meta({ description: 'Where to continue if the range is longer than one request checks' }),
  firstBreak: z
    .object({
      sequence: z.int(),
      reason: z.enum(['altered', 'missing', 'not_linked', 'beyond_head']),
      detail: z.string(),
    })
    .nullable(),
  head: z.object({ sequence: z.int(), hash: z.string() }).meta({
    description: 'The end of the trail. Stored elsewhere, it can later prove that no earlier entry was rewritten',
  }),
});

export const ExportIn = z.strictObject({ ...filters, format: z.literal('csv').default('csv') });

const Count = z
  .union([z.string(), z.number()])
  .nullable()
  .transform((value) => (value === null ? null : Number(value)))
  .meta({ override: { type: ['integer', 'null'] } });

export const ExportOut = z.object({
  id: z.uuid(),
  status: z.enum(EXPORT_STATUSES),
  format: z.literal('csv'),
  filters: JsonObject,
  requestedBy: z.string(),
  requestedAt: Timestamp,
  completedAt: Timestamp.nullable(),
  expiresAt: Timestamp.meta({ description: `The file is kept for ${KEPT_DAYS} days` }),
  rowCount: Count,
  fileSizeBytes: Count,
  sha256: z.string().nullable(),
  error: z.string().nullable(),
});

export const ExportsQuery = z.strictObject({ limit: queryInt(1, 200, 50), offset: queryInt(0, 1_000_000, 0) });
export const ExportPage = z.object({ items: z.array(ExportOut), total: z.int(), limit: z.int(), offset: z.int() });

export const DownloadUrl = z.object({ url: z.url(), expiresAt: Timestamp });

export const RowsQuery = z.strictObject({
  cursorCreatedAt: DateTime.optional(),
  cursorId: z.uuid().optional(),
  limit: queryInt(1, 1_000, 1_000),
});
export const RowsPage = z.object({
  rows: z.array(AuditEntryOut),
  nextCursorCreatedAt: Timestamp.nullable(),
  nextCursorId: z.uuid().nullable(),
});

export const CompleteIn = z.strictObject({
  objectKey: z.string().min(1).max(1_000),
  fileName: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,200}$/, 'must consist of letters, digits, dots, dashes and underscores'),
  rowCount: z.int().min(0),
  fileSizeBytes: z.int().min(0),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 hash in hexadecimal')
    .optional(),
});
export const FailIn = z.strictObject({ error: z.string().trim().min(1).max(2_000) });
