import { AuditEntrySchema, AuditExportSchema, AuditHeadSchema, AuditTallySchema } from './audit/audit.entities.ts';
import { RateLimitSchema } from './rate-limits/rate-limits.entities.ts';
import { IdempotencyKeySchema } from './idempotency/idempotency.entities.ts';
import { SweepFailureSchema } from './system/system.entities.ts';
import { TenantSchema } from './tenants/tenants.entities.ts';
import type { TablesOf } from './data/tables.ts';

/** The tables of the area. */
export const entities = [
  AuditEntrySchema,
  AuditExportSchema,
  AuditHeadSchema,
  AuditTallySchema,
  RateLimitSchema,
  IdempotencyKeySchema,
  SweepFailureSchema,
  TenantSchema,
] as const;

declare module './data/tables.ts' {
  interface Tables extends TablesOf<typeof entities> {}
}
