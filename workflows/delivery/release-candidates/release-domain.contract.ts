import { RELEASES_QUEUE } from '../../queues.contract.ts';
import type { EventOutcome } from '../../../domain/delivery/release-candidates/finalization-rules.ts';
import type { DomainOfRepository } from '../../../domain/delivery/release-candidates/release-event-queue.port.ts';
import { defineContract, defineQuery, defineUpdate } from '../../launch.ts';
import { idPath, idSegment } from '../../../domain/kernel/text/id-segment-rules.ts';

/** The domain whose release events are applied one after another. */
export type ReleaseDomainInput = DomainOfRepository;

export const releaseDomainContract = defineContract('releaseDomain', {
  taskQueue: RELEASES_QUEUE,
  workflowId: ({ tenantSlug, repositoryIdentifier, domain }) =>
    `${tenantSlug}/release-domain/${idPath(repositoryIdentifier)}/${idSegment(domain)}`,
  summary: ({ repositoryIdentifier, domain }) => `Release events of ${repositoryIdentifier}, domain ${domain}`,
  details: ({ domain }) => ({ Domain: domain }),
  searchAttributes: ({ tenantSlug, projectId, repositoryIdentifier }) => ({
    Tenant: tenantSlug,
    Repository: repositoryIdentifier,
    TaskType: 'release-domain',
    EntityId: projectId,
  }),
});

/** Outcomes by id of the stored event; an id that is missing names an event that no longer exists. */
export type OutcomesById = Record<string, EventOutcome>;

/** Applies these stored events, in this order; returns when all of them are applied. */
export const applyEventsUpdate = defineUpdate<OutcomesById, [string[]]>('applyEvents');
/** The number of events that are queued. */
export const queuedEventsQuery = defineQuery<number>('queuedEvents');

/** The most events of one update: what an answer may hold and a handler should wait for. */
export const EVENTS_PER_UPDATE = 200;
