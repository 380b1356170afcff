import { CrmOrgSchema, CrmTokenSchema } from './crm-orgs/crm-orgs.entities.ts';
import { OrgLimitHourSchema, OrgLimitSampleSchema, OrgLimitStateSchema } from './org-limits/org-limits.entities.ts';
import {
  GcCheckSchema,
  GcEntrySchema,
  GcEventSchema,
  GcPresenceSchema,
  GcTallySchema,
} from './gc-ledger/gc-ledger.entities.ts';
import {
  OrgComponentChangeSchema,
  OrgComponentFileSchema,
  OrgComponentSchema,
  OrgComponentTypeSchema,
  OrgContentSchema,
  OrgSyncSchema,
} from './org-explorer/org-explorer.entities.ts';
import { OrgMaintenanceSchema } from './org-maintenance/org-maintenance.entities.ts';
import type { TablesOf } from '../kernel/data/tables.ts';

/** The tables of the area. */
export const entities = [
  CrmOrgSchema,
  CrmTokenSchema,
  OrgMaintenanceSchema,
  OrgLimitHourSchema,
  OrgLimitSampleSchema,
  OrgLimitStateSchema,
  GcCheckSchema,
  GcEntrySchema,
  GcEventSchema,
  GcPresenceSchema,
  GcTallySchema,
  OrgComponentChangeSchema,
  OrgComponentFileSchema,
  OrgComponentSchema,
  OrgComponentTypeSchema,
  OrgContentSchema,
  OrgSyncSchema,
] as const;

declare module '../kernel/data/tables.ts' {
  interface Tables extends TablesOf<typeof entities> {}
}
