import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { GIT_QUEUE } from '../../queues.contract.ts';
import { defineContract, defineSignal } from '../../launch.ts';
import { idEnd, idPath } from '../../../domain/kernel/text/id-segment-rules.ts';

/** The one refresh of a project's pull requests at a time. */
export interface PullRequestsInput extends TenantKey {
  projectId: string;
  repositoryIdentifier: string;
}

/** The host is to be asked, or new commits are to be looked at. */
export const refreshDueSignal = defineSignal('refresh-due');

/** What a refresh came to. */
export interface RefreshReport {
  /** `failed`: the host could not be read. `none`: nothing was asked of it. */
  outcome: 'refreshed' | 'unchanged' | 'failed' | 'none';
  /** Why the host could not be read, for people. */
  reason?: string;
  /** Somebody must act, and that was not so, or for another reason, the last time. */
  isNewsForPeople?: boolean;
  /** Pull requests that the host listed. */
  listed: number;
  /** Pull requests whose changes were looked at. */
  compared: number;
}

export const pullRequestsContract = defineContract('pullRequests', {
  taskQueue: GIT_QUEUE,
  workflowId: ({ tenantSlug, repositoryIdentifier, projectId }) =>
    `${tenantSlug}/pull-requests/${idPath(repositoryIdentifier)}/${idEnd(projectId)}`,
  summary: ({ repositoryIdentifier }) => `Pull requests of ${repositoryIdentifier}`,
  searchAttributes: ({ tenantSlug, projectId, repositoryIdentifier }) => ({
    Tenant: tenantSlug,
    Repository: repositoryIdentifier,
    TaskType: 'pull-requests',
    EntityId: projectId,
  }),
});
