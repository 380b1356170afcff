import type { EventOutcome } from './finalization-rules.ts';

/** One domain of a repository. */
export interface DomainOfRepository {
  tenantId: string;
  projectId: string;
  repositoryIdentifier: string;
  domain: string;
}

/**
 * Has a stored release event applied in its domain's turn and waits for what it comes to; undefined when the event is
 * gone. Throws `EngineUnavailableError` when no answer came within 5 s.
 */
export type DomainTurns = (domain: DomainOfRepository, eventId: string) => Promise<EventOutcome | undefined>;
