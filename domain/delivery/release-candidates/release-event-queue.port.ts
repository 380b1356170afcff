import type { TenantKey } from '../../kernel/shared/actor.ts';
import type { EventOutcome } from './finalization-rules.ts';

/** One domain of a repository. */
export interface DomainOfRepository extends TenantKey {
  projectId: string;
  repositoryIdentifier: string;
  domain: string;
}

/**
 * Queues a stored release event behind the others of its domain and resolves with its outcome; undefined when the event
 * no longer exists. Rejects with `EngineUnavailableError` when there is no answer within 5 s.
 */
export type ReleaseEventQueue = (domain: DomainOfRepository, eventId: string) => Promise<EventOutcome | undefined>;
