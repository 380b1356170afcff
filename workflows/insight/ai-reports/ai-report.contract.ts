import { AI_QUEUE } from '../../queues.contract.ts';
import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { idEnd, idPath, idSegment } from '../../../domain/kernel/text/id-segment-rules.ts';
import { defineContract } from '../../launch.ts';

export interface AiReportInput extends TenantKey {
  reportId: string;
  repositoryIdentifier: string;
  branch: string;
}

export const aiReportContract = defineContract('aiReport', {
  taskQueue: AI_QUEUE,
  workflowId: ({ tenantSlug, repositoryIdentifier, branch, reportId }) =>
    `${tenantSlug}/ai-report/${idPath(repositoryIdentifier)}/${idSegment(branch)}/${idEnd(reportId)}`,
  summary: ({ repositoryIdentifier, branch }) => `AI report on ${repositoryIdentifier}, ${branch}`,
  details: ({ branch }) => ({ Branch: branch }),
  searchAttributes: ({ tenantSlug, repositoryIdentifier, reportId }) => ({
    Tenant: tenantSlug,
    Repository: repositoryIdentifier,
    TaskType: 'ai-report',
    EntityId: reportId,
  }),
});
