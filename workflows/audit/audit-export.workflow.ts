import { ActivityFailure, ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { AuditExportActivities } from '../../activities/audit/audit-exports.activities.ts';
import { LONG_READ, UNTIL_DONE } from '../activity-options.ts';
import type { AuditExportInput } from './audit-export.contract.ts';

const { writeExport } = proxyActivities<AuditExportActivities>(LONG_READ);
const { giveUpExport } = proxyActivities<AuditExportActivities>(UNTIL_DONE);

/** Writes the file of an export; when that fails again and again, the export says so. */
export async function auditExport(input: AuditExportInput): Promise<void> {
  try {
    await writeExport(input);
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : error;
    await giveUpExport({
      ...input,
      error:
        cause instanceof ApplicationFailure ? 'The file could not be written' : 'The workers were gone for too long',
    });
  }
}
