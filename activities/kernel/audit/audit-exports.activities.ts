import { setTimeout as sleep } from 'node:timers/promises';
import { EXPORT_HEADER, exportRecords } from '../../../domain/kernel/audit/export-csv.ts';
import { exportFileName, exportKey } from '../../../domain/kernel/audit/export-rules.ts';
import { beginExport, completeExport, failExport } from '../../../domain/kernel/audit/exports.mutations.ts';
import { type AuditExport, exportCells } from '../../../domain/kernel/audit/exports.queries.ts';
import type { EntryCells } from '../../../domain/kernel/audit/chain.queries.ts';
import { ObjectStoreAwayError } from '../../../domain/kernel/objects/object-store.port.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { CSV_TYPE } from '../../../domain/kernel/text/csv-rules.ts';
import { pagesAhead } from '../../../domain/kernel/queues/pages-ahead.ts';
import type { AuditExportInput } from '../../../workflows/kernel/audit/audit-export.contract.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import type { Deps } from '../../deps.ts';

/** Rows of one query: enough that the rows are what it costs, few enough to keep memory small. */
const PAGE_ROWS = 1_000;
/** Repeated failures of the activity fail the export, an outage of the store does not. */
const STORE_AWAY_MAX_MS = 3_600_000;
const STORE_AWAY_PAUSE_MS = 2_000;

const exporter = (tenant: TenantKey) => systemActor(tenant, 'audit-export');

export const createAuditExportActivities = (deps: Deps) => ({
  /** Writes the file of an export and completes it; nothing to do for one that is settled. */
  writeExport: ({ exportId, ...tenant }: AuditExportInput): Promise<void> =>
    withHeartbeat(async (signal) => {
      const inTenant = deps.actingAs(exporter(tenant));
      const begun = await inTenant((tx) => beginExport(tx, exportId));
      if (!begun) return;
      const count = { rows: 0 };
      const key = exportKey(tenant.tenantId, exportId);
      const { sizeBytes, sha256 } = await onceStoreAnswers(signal, () => {
        count.rows = 0;
        return deps.objects.put(key, fileOf(deps, tenant, begun, count, signal), CSV_TYPE);
      });
      const file = {
        objectKey: key,
        fileName: exportFileName(begun),
        rowCount: count.rows,
        fileSizeBytes: sizeBytes,
        sha256,
      };
      await inTenant((tx) => completeExport(tx, exportId, file));
    }),

  async giveUpExport({ exportId, error, ...tenant }: AuditExportInput & { error: string }): Promise<void> {
    await deps.actingAs(exporter(tenant))((tx) => failExport(tx, exportId, error));
  },
});
export type AuditExportActivities = ReturnType<typeof createAuditExportActivities>;

/** Tries again while the object store is away, for an hour at most. */
async function onceStoreAnswers<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  const endsAt = performance.now() + STORE_AWAY_MAX_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ObjectStoreAwayError) || performance.now() > endsAt) throw error;
      await sleep(STORE_AWAY_PAUSE_MS, undefined, { signal });
    }
  }
}

async function* fileOf(
  { reads }: Deps,
  tenant: TenantKey,
  wanted: AuditExport,
  count: { rows: number },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const trail = reads.as(exporter(tenant));
  yield Buffer.from(EXPORT_HEADER);
  for await (const rows of pagesAhead<EntryCells>(PAGE_ROWS, (behind) =>
    exportCells(trail, wanted, Number(behind?.sequence ?? 0), PAGE_ROWS),
  )) {
    signal.throwIfAborted();
    count.rows += rows.length;
    yield Buffer.from(exportRecords(rows));
  }
}
