import { reportersOf } from '../../../domain/delivery/deployments/deployments.queries.ts';
import { applyEvents, type StoredEvent } from '../../../domain/delivery/release-candidates/release-events.mutations.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type {
  OutcomesById,
  ReleaseDomainInput,
} from '../../../workflows/delivery/release-candidates/release-domain.contract.ts';
import type { Deps } from '../../deps.ts';

export interface ApplyInput extends ReleaseDomainInput {
  eventIds: string[];
}

/** Bounds for how long one transaction holds the domain's lock: some 3 ms for each event. */
const EVENTS_PER_TRANSACTION = 20;

export const createReleaseActivities = ({ actingAs, reads, log }: Deps) => ({
  /**
   * Applies stored release events one after another, in the name of who reported each. Events share a transaction; when
   * it fails, each gets one of its own, so that those before one that cannot be applied are applied. Retrying is safe:
   * an event that was applied before answers what it came to then.
   */
  async applyReleaseEvents({ tenantId, tenantSlug, eventIds, domain }: ApplyInput): Promise<OutcomesById> {
    const tenant = { tenantId, tenantSlug };
    const actor = systemActor(tenant, 'release-domain');
    const reporters = new Map((await reportersOf(reads.as(actor), eventIds)).map((each) => [each.id, each]));
    const known = eventIds.flatMap((id) => reporters.get(id) ?? []);
    const outcomes: OutcomesById = {};
    for (const [projectId, ofProject] of Map.groupBy(known, (each) => each.projectId)) {
      const events = ofProject.map(({ id, reportedBy, requestId, traceparent }) => ({
        id,
        actor: { ...reportedBy, ...tenant },
        requestId: requestId ?? undefined,
        traceparent: traceparent ?? undefined,
      }));
      const apply = async (some: readonly StoredEvent[]) => {
        Object.assign(outcomes, await actingAs(actor)((tx) => applyEvents(tx, { projectId, domain }, some)));
      };
      for (let from = 0; from < events.length; from += EVENTS_PER_TRANSACTION) {
        const together = events.slice(from, from + EVENTS_PER_TRANSACTION);
        try {
          await apply(together);
        } catch (error) {
          if (together.length === 1) throw error;
          log.warn({ err: error, projectId, domain }, 'release events were not applied together; each is tried alone');
          for (const event of together) await apply([event]);
        }
      }
    }
    return outcomes;
  },
});
export type ReleaseActivities = ReturnType<typeof createReleaseActivities>;
