import type { AttentionRule } from '../../../kernel/attention/attention-rule.ts';
import { isoOf } from '../../../kernel/text/date-time-rules.ts';
import { listSchedules } from './flow-schedules.queries.ts';

/** Schedules whose last run was refused. */
export const refusedSchedules: AttentionRule = {
  kind: 'schedule_refused',
  shownBy: 'listFlowSchedules',
  action: 'updateFlowSchedule',
  async find(reads, { limit }) {
    const refused = (await listSchedules(reads)).filter(({ refusedAt }) => refusedAt !== null);
    return refused.slice(0, limit).map(({ id, name, repositoryIdentifier, refusedAt, refusal }) => ({
      key: id,
      title: name,
      reason: `Its last run was refused: ${refusal ?? 'for a reason that was not kept'}`,
      since: isoOf(refusedAt as string),
      repositoryIdentifier,
      params: { id },
      state: `${refusedAt} ${refusal ?? ''}`,
    }));
  },
};
