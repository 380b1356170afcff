import { sql } from 'kysely';
import type { AttentionRule } from '../../kernel/attention/attention-rule.ts';
import { isoOf } from '../../kernel/text/date-time-rules.ts';

/** Who has not looked at a failed run by then will not start it again. */
const LOOKED_AT_DAYS = 14;

/** Runs of their own that failed and that nobody has started again; what somebody rejected is decided. */
export const failedRuns: AttentionRule = {
  kind: 'run_failed',
  shownBy: 'getFlowRun',
  action: 'rerunFlowRun',
  async find({ db, tenantId }, { limit }) {
    const rows = await db
      .selectFrom('flow_run as r')
      .leftJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'r.tenantId').onRef('p.id', '=', 'r.projectId'))
      .where('r.tenantId', '=', tenantId)
      .where('r.displayStatus', '=', 'Failed')
      .where('r.status', '!=', 'rejected')
      .where('r.createdAt', '>', sql<string>`now() - make_interval(days => ${sql.lit(LOOKED_AT_DAYS)})`)
      .where('r.parentId', 'is', null)
      .where('r.isInternal', '=', false)
      .where('r.endedAt', 'is not', null)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('flow_run as again')
              .where('again.tenantId', '=', tenantId)
              .whereRef('again.rerunOfId', '=', 'r.id')
              .select('again.id'),
          ),
        ),
      )
      .orderBy('r.createdAt', 'desc')
      .limit(limit)
      .select(['r.id', 'r.taskType', 'r.releaseName', 'r.status', 'r.error', 'r.endedAt', 'p.identifier'])
      .execute();
    return rows.map(({ id, taskType, releaseName, status, error, endedAt, identifier }) => ({
      key: id,
      title: releaseName === null ? taskType : `${taskType} of ${releaseName}`,
      reason: `The run ${status === 'timed_out' ? 'took too long' : 'failed'}${error === null ? '' : `: ${error.slice(0, 500)}`}`,
      since: isoOf(endedAt as string),
      repositoryIdentifier: identifier,
      params: { id },
      state: `${status} ${endedAt}`,
    }));
  },
};
