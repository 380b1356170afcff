import type { SessionReport } from '../../../domain/review/browser-sessions/sessions.mutations.ts';
import type { Actor, TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { BrowserSessionKey } from '../../../domain/review/review.signals.ts';
import { ENVIRONMENT_LOCKS_QUEUE } from '../../queues.contract.ts';
import { idEnd, idPath } from '../../../domain/kernel/text/id-segment-rules.ts';
import { defineContract, defineSignal, defineUpdate } from '../../launch.ts';

/** A browser that is allocated for a time. */
export type BrowserSessionInput = TenantKey & BrowserSessionKey;

export const browserSessionContract = defineContract('browserSession', {
  // Its own work is as brief as that of locks, and on the database alone.
  taskQueue: ENVIRONMENT_LOCKS_QUEUE,
  // Not by what it shows: the name of an environment may change while the workflow runs.
  workflowId: ({ tenantSlug, repositoryIdentifier, sessionId }) =>
    `${tenantSlug}/browser-session/${idPath(repositoryIdentifier)}/${idEnd(sessionId)}`,
  summary: ({ subject, repositoryIdentifier }) => `Session of ${subject} of ${repositoryIdentifier}`,
  details: ({ subject }) => ({ For: subject }),
  searchAttributes: ({ tenantSlug, repositoryIdentifier, sessionId }) => ({
    Tenant: tenantSlug,
    Repository: repositoryIdentifier,
    TaskType: 'browser-session',
    EntityId: sessionId,
  }),
});

/** Who asks for a change of a session. */
export interface SessionAsk {
  by: Actor;
  requestId: string;
  traceparent: string | undefined;
}

/** An extension that somebody asks for. */
export interface ExtensionAsk extends SessionAsk {
  minutes: number;
  /** Made anew for each request: what executes it may do so twice. Absent in updates sent before there were such ids. */
  extensionId?: string;
}

/** Has the session last longer; refused when it is not live, or lasts to the cap already. */
export const extendUpdate = defineUpdate<void, [ExtensionAsk]>('extend');
/** Stops the session; one that has ended stays as it is. */
export const stopUpdate = defineUpdate<void, [SessionAsk]>('stop');
/** Takes the report of a worker outside. */
export const patchUpdate = defineUpdate<void, [SessionAsk & { report: SessionReport }]>('patch');
/** The address at which a session begins, sealed for the host that asked; or why the org is not opened, for people. */
export type SealedStartUrl = { sealed: string } | { refused: string };
/** Has the front door of the org opened for a host, which holds no credential of orgs. */
export const openStartUrlUpdate = defineUpdate<SealedStartUrl, [{ hostId: string }]>('openStartUrl');
/** The session was made or changed. */
export const sessionChangedSignal = defineSignal('changed');
