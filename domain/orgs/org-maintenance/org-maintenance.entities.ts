import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import type { CalendarState, MaintenanceEntry } from './maintenance-rules.ts';

/** When the platform works on the instance of an org. */
export const OrgMaintenanceSchema = defineEntity({
  name: 'OrgMaintenance',
  tableName: 'org_maintenance',
  properties: {
    tenantId: p.uuid().primary(),
    orgId: p.uuid().primary(),
    /** As people gave them. */
    entries: jsonColumn<MaintenanceEntry[]>().defaultRaw("'[]'::jsonb"),
    /** Encrypted: addresses of calendars are often secret. */
    calendarUrl: p.text().nullable(),
    /** What was read there; null before the first try. */
    calendar: jsonColumn<CalendarState>().nullable(),
    /** When it is read next; null: there is none. */
    calendarDueAt: p.datetime(3).nullable(),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});
