import { overdueApprovals } from '../../../domain/delivery/approvals/overdue-approvals.queries.ts';
import { approvalContract, recheckSignal } from '../../../workflows/delivery/approvals/approval.contract.ts';
import { defineSweep } from '../../kernel/system/define-sweep.ts';

/** An approval that was settled for this long, and whose run does not know: its workflow would have signalled it. */
const NOTIFIED_WITHIN_SECONDS = 2;

/** Has the workflows of approvals check again where they may have missed something. */
export const approvalsSweep = (notifiedWithinSeconds = NOTIFIED_WITHIN_SECONDS) =>
  defineSweep({
    name: 'approvals',
    due: ({ system }, limit) => overdueApprovals(system, notifiedWithinSeconds, limit),
    key: ({ approvalId }) => approvalId,
    handle: ({ launch }, approval) => launch.signalWithStart(approvalContract, approval, recheckSignal),
  });
