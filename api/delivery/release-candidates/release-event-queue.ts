import { batchedPerKey } from '../../../domain/kernel/queues/batched.ts';
import type { ReleaseEventQueue } from '../../../domain/delivery/release-candidates/release-event-queue.port.ts';
import type { Launch } from '../../../workflows/launch.ts';
import {
  applyEventsUpdate,
  EVENTS_PER_UPDATE,
  releaseDomainContract,
} from '../../../workflows/delivery/release-candidates/release-domain.contract.ts';

/** How long a request waits for its event to be applied before it answers that the event is recorded. */
const ANSWER_MS = 5_000;

/** Events of one domain that arrive while an update is in flight share the next one: an engine takes few at a time. */
export const createReleaseEventQueue = (launch: Launch): ReleaseEventQueue =>
  batchedPerKey(
    releaseDomainContract.workflowId,
    async (domain, eventIds: string[]) => {
      const outcomes = await launch.updateWithStart(releaseDomainContract, domain, applyEventsUpdate, {
        args: [eventIds],
        timeoutMs: ANSWER_MS,
      });
      return eventIds.map((id) => outcomes[id]);
    },
    { maxBatch: EVENTS_PER_UPDATE },
  );
