import { ActivityFailure, ApplicationFailure, proxyActivities, setWorkflowOptions } from '@temporalio/workflow';
import type { AuditExportActivities } from '../../../activities/kernel/audit/audit-exports.activities.ts';
import { LONG_READ, UNTIL_DONE } from '../../activity-options.ts';
import type { AuditExportInput } from './audit-export.contract.ts';
import { endsOnItsBuild } from '../../versioning.ts';

const { writeExport } = proxyActivities<AuditExportActivities>(LONG_READ);
const { giveUpExport } = proxyActivities<AuditExportActivities>(UNTIL_DONE);

setWorkflowOptions(endsOnItsBuild, auditExport);

/** Writes the file of an export; when that fails again and again, the export says so and the workflow fails. */
export async function auditExport(input: AuditExportInput): Promise<void> {
  try {
    await writeExport(input);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const message =
      error.cause instanceof ApplicationFailure
        ? 'The file could not be written'
        : 'The workers were gone for too long';
    await giveUpExport({ ...input, error: message });
    throw ApplicationFailure.nonRetryable(message, 'export_failed');
  }
}
