import { defineChore, purgeChore, type Sweep } from './system/define-sweep.ts';
import { purgeSweepFailures } from '../../domain/kernel/system/sweep-failures.queries.ts';
import { auditExportsSweep, expiredExportsSweep } from './audit/audit-exports.sweep.ts';

/** Longer than any writer is at work without writing: a program may run for a day and print nothing. */
const ABANDONED_MS = 2 * 86_400_000;

/** The sweeps of the area, and what removes its expired rows. */
export const sweeps: readonly Sweep[] = [
  auditExportsSweep,
  expiredExportsSweep,
  purgeChore('expired-replies', 'purge_idempotency_keys'),
  purgeChore('expired-rate-limits', 'purge_rate_limits'),
  defineChore({ name: 'abandoned-files', run: ({ objects }) => objects.removeAbandoned(ABANDONED_MS) }),
  defineChore({ name: 'expired-sweep-failures', run: ({ system }) => purgeSweepFailures(system) }),
];
