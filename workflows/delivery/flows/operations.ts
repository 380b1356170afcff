import type { ActivityOptions } from '@temporalio/workflow';
import type { OperationId } from '../../../domain/delivery/flows/flow-types.ts';
import { ANALYSIS, BROWSER_HOLD, OUTSIDE_CALL } from '../../activity-options.ts';
import { ANALYSIS_QUEUE } from '../../queues.contract.ts';
import { CRM_QUEUE } from '../../queues.contract.ts';
import { GIT_QUEUE } from '../../queues.contract.ts';

/** Where and with which limits the service executes runs of the types that it executes itself. */
export const OPERATIONS: Record<OperationId, { queue: string; options: ActivityOptions }> = {
  'create-patch-branch': { queue: GIT_QUEUE, options: OUTSIDE_CALL },
  analyze: { queue: ANALYSIS_QUEUE, options: ANALYSIS },
  'record-session': { queue: CRM_QUEUE, options: BROWSER_HOLD },
};
