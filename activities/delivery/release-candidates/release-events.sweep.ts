import { overdueDomains } from '../../../domain/delivery/release-candidates/overdue-events.queries.ts';
import {
  applyEventsUpdate,
  EVENTS_PER_UPDATE,
  releaseDomainContract,
} from '../../../workflows/delivery/release-candidates/release-domain.contract.ts';
import { defineSweep } from '../../kernel/system/define-sweep.ts';

/** An event that waited for this long was given up by the request that stored it, which waits for 5 s. */
const OVERDUE_SECONDS = 7;
const ANSWER_MS = 20_000;

/** Applies stored events that nobody applied: Temporal was away, or a process died before it asked. */
export const releaseEventsSweep = (overdueSeconds = OVERDUE_SECONDS) =>
  defineSweep({
    name: 'release-events',
    limit: 100,
    concurrency: 50,
    due: ({ system }, limit) => overdueDomains(system, overdueSeconds, EVENTS_PER_UPDATE, limit),
    key: ({ projectId, domain }) => `${projectId}/${domain}`,
    async handle({ launch }, { eventIds, ...domain }) {
      await launch.updateWithStart(releaseDomainContract, domain, applyEventsUpdate, {
        args: [eventIds],
        timeoutMs: ANSWER_MS,
      });
      return eventIds.length;
    },
  });
