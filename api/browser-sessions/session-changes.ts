import { sessionKeyOf } from '../../domain/browser-sessions/session-announcements.ts';
import { hasEnded } from '../../domain/browser-sessions/session-rules.ts';
import {
  extendSession,
  patchSession,
  type SessionReport,
  stopSession,
} from '../../domain/browser-sessions/sessions.mutations.ts';
import { sessionById, type SessionRow } from '../../domain/browser-sessions/sessions.queries.ts';
import { tenantOf } from '../../domain/shared/actor.ts';
import type { Tx } from '../../domain/unit-of-work.ts';
import {
  browserSessionContract,
  extendUpdate,
  patchUpdate,
  type SessionAsk,
  stopUpdate,
} from '../../workflows/browser-sessions/browser-session.contract.ts';
import { EngineUnavailableError } from '../../workflows/launch.ts';
import type { UpdateDefinition } from '@temporalio/common';
import type { Scope } from '../http/scope.ts';

/** How long the workflow of a session may take to answer. */
const ANSWER_MS = 5_000;

type Asking = Pick<Scope, 'actor' | 'tx' | 'adapters' | 'requestId' | 'traceparent' | 'log'>;

/**
 * Changes a session through its workflow. While the engine does not answer the row is changed directly, which the
 * workflow sees afterwards; doing both is safe. One that has ended needs no workflow.
 */
async function change<Asked extends SessionAsk>(
  { actor, tx, adapters, requestId, traceparent, log }: Asking,
  id: string,
  update: UpdateDefinition<void, [Asked]>,
  more: Omit<Asked, keyof SessionAsk>,
  directly: (work: Tx) => Promise<SessionRow>,
): Promise<SessionRow> {
  const session = await tx((work) => sessionById(work, id));
  if (hasEnded(session.status)) return tx(directly);
  const asked = { by: actor, requestId, traceparent, ...more } as unknown as Asked;
  try {
    const input = { ...tenantOf(actor), ...sessionKeyOf(session) };
    await adapters.launch.updateWithStart(browserSessionContract, input, update, {
      args: [asked],
      timeoutMs: ANSWER_MS,
    });
  } catch (error) {
    if (!(error instanceof EngineUnavailableError)) throw error;
    log.warn({ err: error, sessionId: id }, 'browser session changed without its workflow');
    return tx(directly);
  }
  return tx((work) => sessionById(work, id));
}

/** Has a session last longer. Throws as `extendSession`. */
export const extendByWorkflow = (asking: Asking, id: string, minutes: number): Promise<SessionRow> =>
  change(asking, id, extendUpdate, { minutes }, (work) => extendSession(work, id, minutes));

/** Stops a session. Throws as `stopSession`. */
export const stopByWorkflow = (asking: Asking, id: string): Promise<SessionRow> =>
  change(asking, id, stopUpdate, {}, (work) => stopSession(work, id));

/** Takes the report of a worker outside. Throws as `patchSession`. */
export const patchByWorkflow = (asking: Asking, id: string, report: SessionReport): Promise<SessionRow> =>
  change(asking, id, patchUpdate, { report }, (work) => patchSession(work, id, report));
