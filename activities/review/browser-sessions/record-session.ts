import { Context } from '@temporalio/activity';
import { sessionForRun } from '../../../domain/review/browser-sessions/recordings/record.mutations.ts';
import { SESSIONS } from '../../../domain/review/browser-sessions/session-announcements.ts';
import { hasEnded } from '../../../domain/review/browser-sessions/session-rules.ts';
import { findSession, type SessionRow } from '../../../domain/review/browser-sessions/sessions.queries.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';

const POLL_MS = 500;

/** Waits for the end of the browser session that a run is for; the end of the run ends the session. */
export const recordSession = (
  { actingAs, reads, browsers }: Deps,
  tenant: TenantKey,
  run: RunContext,
): Promise<RunOutcome> => {
  let progress: object = { step: 'session' };
  return withHeartbeat(
    async () => {
      const actor = systemActor(tenant, SESSIONS);
      let session: SessionRow | undefined;
      try {
        // In the name of whoever asked, which also starts the workflow of the session.
        session = await actingAs({ ...run.requestedBy, ...tenant })((tx) => sessionForRun(tx, run, browsers));
      } catch (error) {
        if (!(error instanceof DomainError) || error.code === 'unavailable') throw error;
        return { status: 'failed', error: error.message };
      }
      const { id } = session;
      while (session && !hasEnded(session.status)) {
        progress = { step: session.status, sessionId: id };
        await Context.current().sleep(POLL_MS);
        session = await findSession(reads.as(actor), id);
      }
      if (!session) return { status: 'failed', error: 'The browser session was deleted' };
      return outcomeOf(session);
    },
    () => progress,
  );
};

function outcomeOf({ id, status, statusReason, statusDetail, provider, liveAt, endedAt }: SessionRow): RunOutcome {
  const result = { sessionId: id, sessionStatus: status, statusReason, provider, liveAt, endedAt };
  if (status !== 'error') return { status: 'succeeded', result };
  const why = statusDetail ?? statusReason ?? 'of its provider';
  return { status: 'failed', error: `The browser session failed: ${why}`, result };
}
