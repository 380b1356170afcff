import { batched } from '../../domain/shared/batched.ts';
import type { DomainOfRepository, DomainTurns } from '../../domain/release-candidates/domain-turns.port.ts';
import type { EventOutcome } from '../../domain/release-candidates/finalization-rules.ts';
import type { Launch } from '../../workflows/launch.ts';
import {
  APPLY_EVENTS,
  EVENTS_PER_UPDATE,
  releaseDomain,
} from '../../workflows/release-candidates/release-domain.contract.ts';

/** How long a request waits for its event's turn before it answers that the event is recorded. */
const ANSWER_MS = 5_000;

/** Events of one domain that come while an update is under way share the next one: an engine takes few at a time. */
export function createDomainTurns(launch: Launch): DomainTurns {
  const askers = new Map<string, { ask: (eventId: string) => Promise<EventOutcome | undefined>; waiting: number }>();

  const askerOf = (domain: DomainOfRepository) => {
    const key = releaseDomain.workflowId(domain);
    const known = askers.get(key);
    if (known) return known;
    const ask = batched(async (eventIds: string[]) => {
      const outcomes = await launch.ask(releaseDomain, domain, APPLY_EVENTS, eventIds, ANSWER_MS);
      return eventIds.map((id) => outcomes[id]);
    }, { maxBatch: EVENTS_PER_UPDATE });
    const asker = { ask, waiting: 0 };
    askers.set(key, asker);
    return asker;
  };

  return async (domain, eventId) => {
    const asker = askerOf(domain);
    asker.waiting++;
    try {
      return await asker.ask(eventId);
    } finally {
      if (--asker.waiting === 0) askers.delete(releaseDomain.workflowId(domain));
    }
  };
}
