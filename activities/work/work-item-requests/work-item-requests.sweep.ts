import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { overdueReports, unconfirmedRequests } from '../../../domain/work/work-item-requests/item-reports.queries.ts';
import { giveUpCreation } from '../../../domain/work/work-item-requests/request-creation.mutations.ts';
import {
  reportChangedSignal,
  workItemReportContract,
} from '../../../workflows/work/work-item-requests/work-item-report.contract.ts';
import { defineSweep } from '../../kernel/system/define-sweep.ts';

/** A tracker that was asked for a work item so long ago has answered, or nobody hears of it any more. */
const UNCONFIRMED_SECONDS = 300;

/** Ends requests whose process died before their tracker had confirmed the work item. */
export const unconfirmedRequestsSweep = defineSweep({
  name: 'unconfirmed-work-item-requests',
  due: ({ system }, limit) => unconfirmedRequests(system, UNCONFIRMED_SECONDS, limit),
  key: ({ requestId }) => requestId,
  handle: ({ actingAs }, { requestId, ...tenant }) =>
    actingAs(systemActor(tenant, 'work-items'))((tx) => giveUpCreation(tx, requestId)),
});

/** Shows in work items what a lost signal, or a tracker that was away, left unwritten. */
export const workItemReportsSweep = defineSweep({
  name: 'work-item-reports',
  limit: 200,
  due: ({ system }, limit) => overdueReports(system, limit),
  key: ({ requestId }) => requestId,
  handle: ({ launch }, request) => launch.signalWithStart(workItemReportContract, request, reportChangedSignal),
});
