import { applyEvent } from '../../domain/release-candidates/apply-event.ts';
import { systemActor, type Actor } from '../../domain/shared/actor.ts';
import type { OutcomesById, ReleaseDomainInput } from '../../workflows/release-candidates/release-domain.contract.ts';
import type { Deps } from '../deps.ts';

export interface ApplyInput extends ReleaseDomainInput {
  eventIds: string[];
}

interface Reporter {
  id: string;
  reported_by: Actor;
  request_id: string | null;
  traceparent: string | null;
}

export const createReleaseActivities = ({ actingAs, reads }: Deps) => ({
  /**
   * Applies stored release events one after another, each in a transaction of its own, in the name of who reported
   * it. An event that is applied already answers what it came to.
   */
  async applyReleaseEvents({ tenantId, eventIds, ...place }: ApplyInput): Promise<OutcomesById> {
    const outcomes: OutcomesById = {};
    const reporters = await reads
      .as(systemActor(tenantId, 'release-domain'))
      .sql<Reporter>(
        'select id, reported_by, request_id, traceparent from release_deployment where id = any (?::uuid[])',
        [eventIds],
      );
    const reporterOf = new Map(reporters.map((reporter) => [reporter.id, reporter]));
    for (const id of eventIds) {
      const reporter = reporterOf.get(id);
      if (!reporter) continue;
      const context = { requestId: reporter.request_id ?? undefined, traceparent: reporter.traceparent ?? undefined };
      const outcome = await actingAs({ ...reporter.reported_by, tenantId }, context)((tx) => applyEvent(tx, place, id));
      if (outcome) outcomes[id] = outcome;
    }
    return outcomes;
  },
});
export type ReleaseActivities = ReturnType<typeof createReleaseActivities>;
