import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { idSegment } from '../../../domain/kernel/text/id-segment-rules.ts';
import { CRM_QUEUE } from '../../queues.contract.ts';
import { defineContract, defineSignal, type Launch } from '../../launch.ts';

/** The one reader of an org's metadata: its refreshes never overlap. */
export interface OrgExplorerInput extends TenantKey {
  orgId: string;
  username: string;
}

/** A refresh was requested. */
export const refreshSignal = defineSignal('refresh');

export const orgExplorerContract = defineContract('orgExplorer', {
  taskQueue: CRM_QUEUE,
  workflowId: ({ tenantSlug, username }) => `${tenantSlug}/org/${idSegment(username)}`,
  summary: ({ username }) => `Metadata of org ${username}`,
  searchAttributes: ({ tenantSlug, orgId }) => ({ Tenant: tenantSlug, TaskType: 'org-explorer', EntityId: orgId }),
});

/** Requests for one org within this time are coalesced into one more. */
const QUIET_MS = 500;

/** Starts a requested refresh after the commit, without waiting; lost signals are recovered by the sweeper. */
export const signalOrgExplorer = (launch: Launch, input: OrgExplorerInput): void =>
  launch.signalWithStartInBackground(orgExplorerContract, input, refreshSignal, QUIET_MS);
