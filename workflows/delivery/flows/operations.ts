import type { ActivityOptions } from '@temporalio/workflow';
import type { OperationId } from '../../../domain/delivery/flows/flow-types.ts';
import { ANALYSIS, BROWSER_HOLD, GIT_WORK, ORG_CHANGE, ORG_STEP, OUTSIDE_CALL } from '../../activity-options.ts';
import { ANALYSIS_QUEUE } from '../../queues.contract.ts';
import { CRM_QUEUE } from '../../queues.contract.ts';
import { GIT_QUEUE } from '../../queues.contract.ts';

interface OperationTraits {
  /**
   * - `once`: one activity does it.
   * - `held`: one activity begins it, and another undoes it when its time is over, whatever happens.
   * - `followed`: short activities take it on, step by step, with pauses between.
   */
  form: 'once' | 'held' | 'followed';
  queue: string;
  options: ActivityOptions;
  /** The org is asked before the approval is whether it can go. */
  isChecked?: boolean;
}

/** How, where and with which limits the service executes runs of the types that it executes itself. */
const OPERATIONS = {
  'create-patch-branch': { form: 'once', queue: GIT_QUEUE, options: OUTSIDE_CALL },
  'cascade-merge': { form: 'once', queue: GIT_QUEUE, options: GIT_WORK },
  analyze: { form: 'once', queue: ANALYSIS_QUEUE, options: ANALYSIS },
  'record-session': { form: 'once', queue: CRM_QUEUE, options: BROWSER_HOLD },
  'run-browser-check': { form: 'once', queue: CRM_QUEUE, options: BROWSER_HOLD },
  'request-freeze-users': { form: 'once', queue: CRM_QUEUE, options: ORG_CHANGE },
  'request-unfreeze-users': { form: 'once', queue: CRM_QUEUE, options: ORG_CHANGE },
  'request-elevated-privileges': { form: 'held', queue: CRM_QUEUE, options: ORG_CHANGE },
  'request-sandbox-create': { form: 'followed', queue: CRM_QUEUE, options: ORG_STEP },
  'request-sandbox-refresh': { form: 'followed', queue: CRM_QUEUE, options: ORG_STEP },
  'request-sandbox-activate': { form: 'followed', queue: CRM_QUEUE, options: ORG_STEP },
  'request-sandbox-delete': { form: 'followed', queue: CRM_QUEUE, options: ORG_STEP },
  'install-artifacts': { form: 'followed', queue: GIT_QUEUE, options: ORG_STEP },
  'execute-release': { form: 'followed', queue: GIT_QUEUE, options: ORG_STEP, isChecked: true },
  'rollback-release': { form: 'followed', queue: GIT_QUEUE, options: ORG_STEP, isChecked: true },
  'install-changeset': { form: 'followed', queue: CRM_QUEUE, options: ORG_STEP },
  'run-apex-tests': { form: 'followed', queue: CRM_QUEUE, options: ORG_STEP },
  'install-packages': { form: 'followed', queue: CRM_QUEUE, options: ORG_STEP, isChecked: true },
  'pool-prepare': { form: 'followed', queue: CRM_QUEUE, options: ORG_STEP },
  'pool-sandbox': { form: 'followed', queue: CRM_QUEUE, options: ORG_STEP },
  'pool-packages': { form: 'followed', queue: CRM_QUEUE, options: ORG_STEP },
  'pool-source': { form: 'followed', queue: GIT_QUEUE, options: ORG_STEP },
  'uninstall-packages': { form: 'followed', queue: CRM_QUEUE, options: ORG_STEP, isChecked: true },
} as const satisfies Record<OperationId, OperationTraits>;

/** How the operation of a type is executed; the type must have one. */
export const operationOf = (taskType: string): OperationTraits => OPERATIONS[taskType as OperationId];

/** The types whose operation has such a form. */
export type OperationOf<Form extends OperationTraits['form']> = {
  [Id in OperationId]: Form extends (typeof OPERATIONS)[Id]['form'] ? Id : never;
}[OperationId];
