import type { Sweep } from '../kernel/system/define-sweep.ts';
import { expiringOrgsSweep } from './crm-orgs/expiring-orgs.sweep.ts';
import { gcChecksSweep } from './gc-ledger/gc-checks.sweep.ts';
import { expiredLimitSamplesChore, orgLimitsSweep } from './org-limits/org-limits.sweep.ts';
import { calendarsSweep } from './org-maintenance/calendars.sweep.ts';
import { orgSyncsSweep, unusedContentsSweep, orgHistoryChore } from './org-explorer/org-explorer.sweep.ts';

/** The sweeps of the area, and what removes its expired rows. */
export const sweeps: readonly Sweep[] = [
  expiringOrgsSweep,
  calendarsSweep,
  gcChecksSweep,
  expiredLimitSamplesChore,
  orgLimitsSweep,
  orgSyncsSweep,
  unusedContentsSweep,
  orgHistoryChore,
];
