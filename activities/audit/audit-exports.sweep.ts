import { expireExports, failExport } from '../../domain/audit/exports.mutations.ts';
import { stalledExports, tenantsWithExpiredExports } from '../../domain/audit/exports.queries.ts';
import { systemActor, type TenantKey } from '../../domain/shared/actor.ts';
import { auditExportContract } from '../../workflows/audit/audit-export.contract.ts';
import { defineSweep } from '../system/define-sweep.ts';

/** An export that was asked for this long ago and has not begun was not launched. */
const QUEUED_MAX_SECONDS = 30;
/** An export that has been running for this long may have lost its workflow. */
const RUNNING_MAX_SECONDS = 600;
const HOUR_MS = 3_600_000;

const exporter = (tenant: TenantKey) => systemActor(tenant, 'audit-export');

/** Launches exports whose launch was lost, and settles those whose workflow somebody ended. */
export const auditExportsSweep = defineSweep({
  name: 'audit-exports',
  limit: 200,
  due: ({ system }, limit) =>
    stalledExports(system, { queuedSeconds: QUEUED_MAX_SECONDS, runningSeconds: RUNNING_MAX_SECONDS, limit }),
  key: ({ exportId }) => exportId,
  async handle({ launch, actingAs }, { isNew, ...input }) {
    const { exportId } = input;
    if (isNew) await launch.start(auditExportContract, input);
    else if (await launch.isRunning(auditExportContract, input)) return 0;
    else await actingAs(exporter(input))((tx) => failExport(tx, exportId, 'The export was ended from outside'));
    return 1;
  },
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
