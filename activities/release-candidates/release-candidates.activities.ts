import { reportersOf } from '../../domain/deployments/deployments.queries.ts';
import { applyEvent } from '../../domain/release-candidates/release-events.mutations.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import type { OutcomesById, ReleaseDomainInput } from '../../workflows/release-candidates/release-domain.contract.ts';
import type { Deps } from '../deps.ts';

export interface ApplyInput extends ReleaseDomainInput {
  eventIds: string[];
}

export const createReleaseActivities = ({ actingAs, reads }: Deps) => ({
  /**
   * Applies stored release events one after another, each in a transaction of its own, in the name of who reported
   * it. Retrying is safe: an event that was applied before answers what it came to then.
   */
  async applyReleaseEvents({ tenantId, tenantSlug, eventIds, ...place }: ApplyInput): Promise<OutcomesById> {
    const tenant = { tenantId, tenantSlug };
    const reporters = await reportersOf(reads.as(systemActor(tenant, 'release-domain')), eventIds);
    const reporterOf = new Map(reporters.map((reporter) => [reporter.id, reporter]));
    const outcomes: OutcomesById = {};
    for (const id of eventIds) {
      const reporter = reporterOf.get(id);
      if (!reporter) continue;
      const { projectId, reportedBy, requestId, traceparent } = reporter;
      const context = { requestId: requestId ?? undefined, traceparent: traceparent ?? undefined };
      const outcome = await actingAs(
        { ...reportedBy, ...tenant },
        context,
      )((tx) => applyEvent(tx, { ...place, projectId }, id));
      if (outcome) outcomes[id] = outcome;
    }
    return outcomes;
  },
});
export type ReleaseActivities = ReturnType<typeof createReleaseActivities>;
