import { batchedPerKey } from '../../domain/shared/batched.ts';
import type { DomainTurns } from '../../domain/release-candidates/domain-turns.port.ts';
import type { Launch } from '../../workflows/launch.ts';
import {
  APPLY_EVENTS,
  EVENTS_PER_UPDATE,
  releaseDomain,
} from '../../workflows/release-candidates/release-domain.contract.ts';

/** How long a request waits for its event's turn before it answers that the event is recorded. */
const ANSWER_MS = 5_000;

/** Events of one domain that come while an update is under way share the next one: an engine takes few at a time. */
export const createDomainTurns = (launch: Launch): DomainTurns =>
  batchedPerKey(
    releaseDomain.workflowId,
    async (domain, eventIds: string[]) => {
      const outcomes = await launch.ask(releaseDomain, domain, APPLY_EVENTS, eventIds, ANSWER_MS);
      return eventIds.map((id) => outcomes[id]);
    },
    { maxBatch: EVENTS_PER_UPDATE },
  );
