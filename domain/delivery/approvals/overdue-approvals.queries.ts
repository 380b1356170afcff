import { sql } from 'kysely';
import { secondsAgo } from '../../kernel/data/conditions.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { TenantKey } from '../../kernel/shared/actor.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';

/** The workflow of an approval is started, or acts on the expiry, well within this time. */
const STARTED_WITHIN_SECONDS = 30;

export interface OverdueApproval extends TenantKey {
  approvalId: string;
  taskType: string;
  repositoryIdentifier: string | null;
}

/**
 * Approvals whose workflow missed something: settled by a change of the candidate for so long, and the run does not
 * know; or open, and the workflow was not started, missed the expiry, or waits for a run that has ended.
 */
export const overdueApprovals = (
  system: Database,
  notifiedWithinSeconds: number,
  limit: number,
): Promise<OverdueApproval[]> =>
  system
    .selectFrom('approval as a')
    .select(['a.tenantId', tenantSlugOf('a.tenantId'), 'a.id as approvalId', 'a.taskType', 'a.repositoryIdentifier'])
    .where('a.runNotifiedAt', 'is', null)
    .where((eb) => {
      const isOpen = eb('a.status', '=', 'requested');
      const wasNotStarted = eb.and([
        eb('a.confirmedAt', 'is', null),
        eb('a.createdAt', '<', secondsAgo(STARTED_WITHIN_SECONDS)),
      ]);
      const missedExpiry = eb('a.expiresAt', '<', secondsAgo(STARTED_WITHIN_SECONDS));
      const hasRunEnded = eb.exists(
        eb
          .selectFrom('flow_run as r')
          .select(sql.lit(1).as('one'))
          .whereRef('r.tenantId', '=', 'a.tenantId')
          .whereRef('r.id', '=', 'a.runId')
          .where('r.endedAt', 'is not', null),
      );
      return eb.or([
        eb.and([isOpen, eb.or([wasNotStarted, missedExpiry, hasRunEnded])]),
        eb.and([eb('a.status', '!=', 'requested'), eb('a.resolvedAt', '<=', secondsAgo(notifiedWithinSeconds))]),
      ]);
    })
    .orderBy('a.createdAt')
    .limit(limit)
    .execute();
