import { AUDIT_QUEUE } from '../../queues.contract.ts';
import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { idDate, idEnd } from '../../../domain/kernel/text/id-segment-rules.ts';
import { defineContract } from '../../launch.ts';

export interface AuditExportInput extends TenantKey {
  exportId: string;
}

export const auditExportContract = defineContract('auditExport', {
  taskQueue: AUDIT_QUEUE,
  workflowId: ({ tenantSlug, exportId }) => `${tenantSlug}/audit-export/${idDate(exportId)}/${idEnd(exportId)}`,
  summary: ({ exportId }) => `Export of the audit trail, asked for on ${idDate(exportId)}`,
  searchAttributes: ({ tenantSlug, exportId }) => ({
    Tenant: tenantSlug,
    TaskType: 'audit-export',
    EntityId: exportId,
  }),
});
