import type { DomainOfRepository } from '../../domain/release-candidates/domain-turns.port.ts';
import type { EventOutcome } from '../../domain/release-candidates/finalization-rules.ts';
import { defineContract, defineUpdate } from '../launch.ts';

/** The domain whose release events are applied one after another. */
export type ReleaseDomainInput = DomainOfRepository;

export const RELEASES_QUEUE = 'releases-v1';

export const releaseDomain = defineContract<ReleaseDomainInput>({
  workflow: 'releaseDomain',
  taskQueue: RELEASES_QUEUE,
  workflowId: ({ tenantId, projectId, domain }) =>
    `${tenantId}/release-domain/${projectId}/${encodeURIComponent(domain)}`,
  summary: ({ repositoryIdentifier, domain }) => `Release events of ${repositoryIdentifier}, domain ${domain}`,
  searchAttributes: ({ tenantId, projectId, repositoryIdentifier }) => ({
    Tenant: tenantId,
    Repository: repositoryIdentifier,
    TaskType: 'release-domain',
    EntityId: projectId,
  }),
});

/** Outcomes by id of the stored event; an id that is missing in the answer names no event any more. */
export type OutcomesById = Record<string, EventOutcome>;

/** Update: apply these stored events, in this order; answers when all of them are applied. */
export const APPLY_EVENTS = defineUpdate<string[], OutcomesById>('applyEvents');

/** The most events of one update: what an answer may hold and a handler should wait for. */
export const EVENTS_PER_UPDATE = 200;
