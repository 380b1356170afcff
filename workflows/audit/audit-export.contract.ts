import { defineContract } from '../launch.ts';

export const AUDIT_QUEUE = 'audit-v1';

export interface AuditExportInput {
  tenantId: string;
  exportId: string;
}

export const auditExportContract = defineContract('auditExport', {
  taskQueue: AUDIT_QUEUE,
  workflowId: ({ tenantId, exportId }) => `${tenantId}/audit-export/${exportId}`,
  summary: ({ exportId }) => `Export ${exportId} of the audit trail`,
  searchAttributes: ({ tenantId, exportId }) => ({ Tenant: tenantId, TaskType: 'audit-export', EntityId: exportId }),
});
