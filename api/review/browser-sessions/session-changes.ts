import { sessionKeyOf } from '../../../domain/review/browser-sessions/session-announcements.ts';
import { hasEnded } from '../../../domain/review/browser-sessions/session-rules.ts';
import {
  extendSession,
  patchSession,
  type SessionReport,
  stopSession,
} from '../../../domain/review/browser-sessions/sessions.mutations.ts';
import { sessionById, type SessionRow } from '../../../domain/review/browser-sessions/sessions.queries.ts';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import { newId } from '../../../domain/kernel/shared/ids.ts';
import type { Tx } from '../../../domain/unit-of-work.ts';
import {
  browserSessionContract,
  extendUpdate,
  patchUpdate,
  type SessionAsk,
  stopUpdate,
} from '../../../workflows/review/browser-sessions/browser-session.contract.ts';
import type { UpdateDefinition } from '@temporalio/common';
import { ANSWER_MS, changedByWorkflow } from '../changed-by-workflow.ts';
import type { Scope } from '../../http/scope.ts';

type Asking = Pick<Scope, 'actor' | 'tx' | 'adapters' | 'requestId' | 'traceparent' | 'log'>;

/** Changes a session through its workflow. */
const change = <Asked extends SessionAsk>(
  { actor, tx, adapters, requestId, traceparent, log }: Asking,
  id: string,
  update: UpdateDefinition<void, [Asked]>,
  more: Omit<Asked, keyof SessionAsk>,
  directly: (work: Tx) => Promise<SessionRow>,
): Promise<SessionRow> =>
  changedByWorkflow(
    { tx, log: log.child({ sessionId: id }) },
    {
      find: (work) => sessionById(work, id),
      hasEnded: ({ status }) => hasEnded(status),
      byWorkflow: (session) =>
        adapters.launch.updateWithStart(
          browserSessionContract,
          { ...tenantOf(actor), ...sessionKeyOf(session) },
          update,
          { args: [{ by: actor, requestId, traceparent, ...more } as unknown as Asked], timeoutMs: ANSWER_MS },
        ),
      directly,
    },
  );

/** Has a session last longer. Throws as `extendSession`. */
export function extendByWorkflow(asking: Asking, id: string, minutes: number): Promise<SessionRow> {
  const extension = { minutes, extensionId: newId() };
  return change(asking, id, extendUpdate, extension, (work) => extendSession(work, id, extension));
}

/** Stops a session. Throws as `stopSession`. */
export const stopByWorkflow = (asking: Asking, id: string): Promise<SessionRow> =>
  change(asking, id, stopUpdate, {}, (work) => stopSession(work, id));

/** Takes the report of a worker outside. Throws as `patchSession`. */
export const patchByWorkflow = (asking: Asking, id: string, report: SessionReport): Promise<SessionRow> =>
  change(asking, id, patchUpdate, { report }, (work) => patchSession(work, id, report));
