import { expireExports, failExport } from '../../../domain/kernel/audit/exports.mutations.ts';
import { tenantsWithExpiredExports } from '../../../domain/kernel/audit/exports.queries.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { auditExportContract } from '../../../workflows/kernel/audit/audit-export.contract.ts';
import { defineSweep } from '../system/define-sweep.ts';
import { defineStalledWorkSweep } from '../system/stalled-work-sweep.ts';

const HOUR_MS = 3_600_000;

const exporter = (tenant: TenantKey) => systemActor(tenant, 'audit-export');

/** Launches exports whose launch was lost, and settles those whose workflow somebody ended. */
export const auditExportsSweep = defineStalledWorkSweep({
  name: 'audit-exports',
  table: 'audit_export',
  contract: auditExportContract,
  runningMaxSeconds: 600,
  inputOf: (tenant, exportId) => ({ ...tenant, exportId }),
  end: ({ actingAs }, input) =>
    actingAs(exporter(input))((tx) => failExport(tx, input.exportId, 'The export was ended from outside')),
});

/** Removes the files of exports that have expired. */
export const expiredExportsSweep = defineSweep({
  name: 'expired-audit-exports',
  everyMs: HOUR_MS,
  limit: 200,
  rowTimeoutMs: 240_000,
  isRoutine: true,
  due: ({ system }, limit) => tenantsWithExpiredExports(system, limit),
  key: ({ tenantId }) => tenantId,
  handle: ({ actingAs, objects }, tenant) => expireExports(actingAs(exporter(tenant)), objects),
});
