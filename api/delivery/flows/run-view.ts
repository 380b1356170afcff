import type { z } from 'zod';
import type { RunRow } from '../../../domain/delivery/flows/run-list.queries.ts';
import { type MoveFacts, type RunTicket, statesOf, ticketIn } from '../../../domain/delivery/flows/run-move-rules.ts';
import { displayOf, isFinal, isSuccess } from '../../../domain/delivery/flows/run-status-rules.ts';
import { isoOf } from '../../../domain/kernel/text/date-time-rules.ts';
import type { StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import type { Run } from './flow-runs.schemas.ts';
import type { RunState } from './run-steps.schemas.ts';

/** A step of a run as its detail shows it. */
export const stepView = ({ name, state, askedAt, endedAt, detail, progress, error, externalId }: StepRow) => ({
  name,
  state,
  since: askedAt,
  until: endedAt,
  detail,
  progress,
  error,
  externalId,
});

/** The states of a run as its detail shows them. */
export const statesView = (
  run: MoveFacts & { approvalId: string | null; tickets: readonly RunTicket[] },
): z.input<typeof RunState>[] =>
  statesOf(run).map(({ since: begun, until: ended, ...state }) => {
    const [since, until] = [begun && isoOf(begun), ended && isoOf(ended)];
    const ticket = state.state === 'waiting_lock' ? ticketIn({ since, until }, run.tickets) : undefined;
    return {
      ...state,
      since,
      until,
      ...(state.state === 'waiting_approval' && run.approvalId !== null && { approvalId: run.approvalId }),
      ...(ticket && { ticketId: ticket.id }),
    };
  });

export const runView = ({ status, error, workflowPath: _, ...row }: RunRow, now: Date): z.input<typeof Run> => ({
  ...row,
  status: displayOf(status),
  rawStatus: status,
  success: isFinal(status) ? { isSuccess: isSuccess(status), error } : null,
  durationMs:
    row.startedAt === null
      ? null
      : Math.max(0, (row.endedAt === null ? now.getTime() : Date.parse(row.endedAt)) - Date.parse(row.startedAt)),
});
