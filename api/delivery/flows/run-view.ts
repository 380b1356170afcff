import type { z } from 'zod';
import type { RunRow } from '../../../domain/delivery/flows/run-list.queries.ts';
import { displayOf, isFinal, isSuccess } from '../../../domain/delivery/flows/run-status-rules.ts';
import type { StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import type { Run } from './flow-runs.schemas.ts';

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
