import { openAssignedOrg } from '../../../domain/review/review-pools/assigned-org-doors.ts';
import { StartRefused } from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import type { SessionRow } from '../../../domain/review/browser-sessions/sessions.queries.ts';
import type { NoteAccess } from '../../../domain/orgs/crm-orgs/doors/access-notes.ts';
import { openFrontDoor } from '../../../domain/orgs/crm-orgs/doors/org-front-doors.ts';
import { DomainError, type ErrorCode } from '../../../domain/kernel/shared/errors.ts';
import type { Deps } from '../../deps.ts';
import type { SessionKey } from './session-state.activities.ts';

/** Failures after which the same request may succeed a little later. */
const PASSING: ReadonlySet<ErrorCode> = new Set(['upstream_timeout', 'unavailable', 'rate_limited']);

/**
 * The front door of a session's org, opened in the name of who asked for the session. It is a secret: nobody keeps it or
 * writes it down. Rejects with `StartRefused` where the org is not opened.
 */
export async function startUrlOf(
  { actingAs, reads, crm }: Deps,
  { tenantId, tenantSlug, sessionId }: SessionKey,
  { createdBy, orgUsername, startPath }: SessionRow,
): Promise<URL> {
  const actor = { ...createdBy, tenantId, tenantSlug };
  const tx = actingAs(actor, { requestId: sessionId });
  const noteAccess: NoteAccess = ({ action, orgId, summary, after }) =>
    tx(async (work) =>
      work.audit({
        source: 'crm',
        action: `org.${action}`,
        entityType: 'crm_org',
        entityId: orgId,
        summary,
        ...(after !== undefined && { after }),
      }),
    );
  const scope = {
    actor,
    requestId: sessionId,
    tx,
    reads: reads.as(actor),
    crm: { ...crm, noteAccess, openAssignedOrg },
  };
  try {
    return new URL(await openFrontDoor(scope, { target: orgUsername, path: startPath ?? undefined }));
  } catch (error) {
    if (!(error instanceof DomainError) || PASSING.has(error.code)) throw error;
    throw new StartRefused(error.message);
  }
}
