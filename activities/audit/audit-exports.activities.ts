import {
  completeExport,
  expireExports,
  exportFileName,
  exportKey,
  failExport,
} from '../../domain/audit/export-moves.ts';
import { EXPORT_HEADER, exportRecords } from '../../domain/audit/export-csv.ts';
import type { EntryCells } from '../../domain/audit/audit-list.queries.ts';
import { type AuditExport, exportCells, moveExport } from '../../domain/audit/exports.queries.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import { CSV_TYPE } from '../../domain/shared/csv-rules.ts';
import { pagesAhead } from '../../domain/shared/pages-ahead.ts';
import { auditExport, type AuditExportInput } from '../../workflows/audit/audit-export.contract.ts';
import { withHeartbeat } from '../heartbeat.ts';
import type { Deps } from '../deps.ts';

/** Rows of one query: enough that its cost is the rows', few enough that they are no burden. */
const PAGE_ROWS = 1_000;

const exporter = (tenantId: string) => systemActor(tenantId, 'audit-export');

export const createAuditExportActivities = (deps: Deps) => ({
  /** Writes the file of an export and completes it; nothing to do for one that is settled. */
  writeExport: ({ tenantId, exportId }: AuditExportInput): Promise<void> =>
    withHeartbeat(async (signal) => {
      const inTenant = deps.actingAs(exporter(tenantId));
      const begun = await inTenant((tx) => moveExport(tx, exportId, { to: 'running' }));
      if (!begun) return;
      const count = { rows: 0 };
      const key = exportKey(tenantId, exportId);
      const { sizeBytes, sha256 } = await deps.objects.put(key, fileOf(deps, tenantId, begun, count, signal), CSV_TYPE);
      const file = {
        objectKey: key,
        fileName: exportFileName(begun),
        rowCount: count.rows,
        fileSizeBytes: sizeBytes,
        sha256,
      };
      await inTenant((tx) => completeExport(tx, exportId, file));
    }),

  async giveUpExport({ tenantId, exportId, error }: AuditExportInput & { error: string }): Promise<void> {
    await deps.actingAs(exporter(tenantId))((tx) => failExport(tx, exportId, error));
  },
});
export type AuditExportActivities = ReturnType<typeof createAuditExportActivities>;

async function* fileOf(
  { reads }: Deps,
  tenantId: string,
  wanted: AuditExport,
  count: { rows: number },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const trail = reads.as(exporter(tenantId));
  yield Buffer.from(EXPORT_HEADER);
  for await (const rows of pagesAhead<EntryCells>(PAGE_ROWS, (behind) =>
    exportCells(trail, wanted, Number(behind?.sequence ?? 0), PAGE_ROWS),
  )) {
    signal.throwIfAborted();
    count.rows += rows.length;
    yield Buffer.from(exportRecords(rows));
  }
}

/** An export that was asked for so long ago and has not begun was not launched. */
const OVERDUE_SECONDS = 30;
/** An export that is written for so long may have lost its workflow. */
const SILENT_SECONDS = 600;
const MOST = 200;

interface OpenExport extends AuditExportInput {
  isNew: boolean;
}

/** Launches exports whose launch was lost, and settles those whose workflow somebody ended. */
export async function sweepExports({ systemPool, launch, log, actingAs }: Deps): Promise<number> {
  const { rows } = await systemPool.query<OpenExport>(
    `select tenant_id as "tenantId", id as "exportId", status = 'queued' as "isNew" from audit_export
     where status in ('queued', 'running')
       and updated_at < now() - make_interval(secs => case status when 'queued' then $1::int else $2::int end)
     order by created_at limit $3`,
    [OVERDUE_SECONDS, SILENT_SECONDS, MOST],
  );
  let found = 0;
  for (const { isNew, ...input } of rows) {
    try {
      if (isNew) await launch.start(auditExport, input);
      else if (await launch.isRunning(auditExport, input)) continue;
      else
        await actingAs(exporter(input.tenantId))((tx) =>
          failExport(tx, input.exportId, 'The export was ended from outside'),
        );
      found++;
    } catch (error) {
      log.warn({ err: error, ...input }, 'an export still waits');
    }
  }
  return found;
}

/** Removes the files of exports of all tenants whose time is over. */
export async function expireAllExports({ systemPool, actingAs, objects }: Deps): Promise<number> {
  const { rows } = await systemPool.query<{ tenantId: string }>(
    `select distinct tenant_id as "tenantId" from audit_export where status = 'completed' and expires_at <= now() limit $1`,
    [MOST],
  );
  let expired = 0;
  for (const { tenantId } of rows) expired += await expireExports(actingAs(exporter(tenantId)), objects);
  return expired;
}
