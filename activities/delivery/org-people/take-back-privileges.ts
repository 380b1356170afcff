import type { RunKey } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import { announceEnd } from '../../../domain/delivery/org-people/privilege-grants.mutations.ts';
import {
  type GrantRow,
  grantsOfRun,
  moveGrants,
} from '../../../domain/delivery/org-people/privilege-grants.queries.ts';
import { type Assignment, OPEN_GRANTS, refusalText } from '../../../domain/delivery/org-people/privilege-rules.ts';
import type { CrmFailure } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { partsOf } from '../../../domain/kernel/shared/at-once-rules.ts';
import { RECORDS_PER_CALL } from '../../../domain/orgs/crm/crm-records.port.ts';
import { longId } from '../../../domain/orgs/crm/org-id-rules.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import type { UndoOperation } from '../flows/operations.activities.ts';
import { answered, OrgCallFailed } from '../org-steps/org-call-failed.ts';
import { assignments } from './org-permission-sets.ts';

/**
 * Takes back what a run has given, whether or not the run still exists; what the org does not have any more is taken back. Throws
 * while the org is away.
 */
export const takeBackPrivileges: UndoOperation = (deps, key) =>
  withHeartbeat((signal) => takeBackOpenGrants(deps, key, signal));

/** As `takeBackPrivileges`, for a sweep. */
export async function takeBackOpenGrants(
  deps: Deps,
  key: Pick<RunKey, 'tenantId' | 'tenantSlug' | 'runId'>,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { runId, tenantId, tenantSlug } = key;
  const tenant = { tenantId, tenantSlug };
  const unit = deps.actingAs(systemActor(tenant, 'flow'));
  const open = (await unit((tx) => grantsOfRun(tx, runId))).filter(({ state }) => OPEN_GRANTS.includes(state));
  const [first] = open;
  if (!first) return {};
  const { orgId, orgUsername } = first;
  const calls = deps.crm.connections.callOrg({ ...tenant, orgId }, { signal });
  try {
    const there = await assignments(
      calls,
      open.map(({ userId }) => userId),
    );
    for (const part of partsOf(assignmentsToDelete(open, there), RECORDS_PER_CALL)) {
      const failed = answered(await calls.deleteRecords(part)).flatMap(({ errors }) =>
        errors.filter(({ code }) => !ALREADY_GONE.test(code)),
      );
      if (failed.length > 0) throw new Error(refusalText(failed.slice(0, 3)));
    }
  } catch (error) {
    if (error instanceof OrgCallFailed && isGone(error.failure)) return end('lost', error.message);
    signal.throwIfAborted();
    const { message } = error as Error;
    await unit((tx) => announceEnd(tx, { runId, grants: open, isTakenBack: false, error: message }));
    throw error;
  }
  return end('taken_back', undefined);

  async function end(state: 'taken_back' | 'lost', error: string | undefined): Promise<Record<string, unknown>> {
    await unit(async (tx) => {
      await moveGrants(
        tx,
        open.map(({ id }) => ({ id, state, error })),
      );
      await announceEnd(tx, { runId, grants: open, isTakenBack: state === 'taken_back', error: error ?? null });
    });
    return state === 'taken_back'
      ? { takenBackAt: deps.now().toISOString() }
      : { takenBackAt: null, takeBackError: `The org ${orgUsername} is gone: ${error}` };
  }
}

/** What somebody else gave since is not ours: what was granted is known by its id, what may have been by its pair. */
const assignmentsToDelete = (open: readonly GrantRow[], there: readonly Assignment[]): string[] =>
  there
    .filter(({ id, userId, setId }) =>
      open.some((grant) =>
        grant.assignmentId === null
          ? grant.userId === userId && grant.setId === setId
          : longId(grant.assignmentId) === id,
      ),
    )
    .map(({ id }) => id);

const ALREADY_GONE = /^(ENTITY_IS_DELETED|INVALID_CROSS_REFERENCE_KEY)$/;

/** The org was removed here, or the platform has deleted it. */
const isGone = ({ code, kind }: CrmFailure): boolean => code === 'HTTP_420' || (kind === 'not_found' && code === null);
