import type { ActivityOptions } from '@temporalio/workflow';
import type { OperationId } from '../../../domain/delivery/flows/flow-types.ts';
import { ANALYSIS, BROWSER_HOLD, ORG_CHANGE, OUTSIDE_CALL } from '../../activity-options.ts';
import { ANALYSIS_QUEUE } from '../../queues.contract.ts';
import { CRM_QUEUE } from '../../queues.contract.ts';
import { GIT_QUEUE } from '../../queues.contract.ts';

/**
 * Where and with which limits the service executes runs of the types that it executes itself. What `isUndone` lasts for a
 * time, and is undone at its end whatever happens.
 */
export const OPERATIONS: Record<OperationId, { queue: string; options: ActivityOptions; isUndone?: boolean }> = {
  'create-patch-branch': { queue: GIT_QUEUE, options: OUTSIDE_CALL },
  analyze: { queue: ANALYSIS_QUEUE, options: ANALYSIS },
  'record-session': { queue: CRM_QUEUE, options: BROWSER_HOLD },
  'request-freeze-users': { queue: CRM_QUEUE, options: ORG_CHANGE },
  'request-unfreeze-users': { queue: CRM_QUEUE, options: ORG_CHANGE },
  'request-elevated-privileges': { queue: CRM_QUEUE, options: ORG_CHANGE, isUndone: true },
};
