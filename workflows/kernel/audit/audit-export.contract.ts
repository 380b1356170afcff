import { AUDIT_QUEUE } from '../../queues.contract.ts';
import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { defineContract } from '../../launch.ts';

export interface AuditExportInput extends TenantKey {
  exportId: string;
}

export const auditExportContract = defineContract('auditExport', {
  taskQueue: AUDIT_QUEUE,
  workflowId: ({ tenantSlug, exportId }) => `${tenantSlug}/audit-export/${exportId}`,
  summary: ({ exportId }) => `Export ${exportId} of the audit trail`,
  searchAttributes: ({ tenantSlug, exportId }) => ({
    Tenant: tenantSlug,
    TaskType: 'audit-export',
    EntityId: exportId,
  }),
});
