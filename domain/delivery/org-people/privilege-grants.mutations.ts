import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import type { Tx } from '../../unit-of-work.ts';
import { auditRun, type RunSummary } from '../flows/flow-runs.mutations.ts';
import { findRun } from '../flows/flow-runs.queries.ts';
import { type GrantRow, noteGrantError } from './privilege-grants.queries.ts';

const pairsOf = (grants: readonly GrantRow[]) =>
  grants.map(({ username, permissionSet }) => ({ username, permissionSet }));

/** Audits what a run has given, and what the org refused. */
export const auditGrants = (
  tx: Tx,
  run: Pick<RunSummary, 'id' | 'repositoryIdentifier'>,
  grants: readonly GrantRow[],
): void => {
  const granted = grants.filter(({ state }) => state === 'granted');
  const orgUsername = grants[0]?.orgUsername;
  auditRun(tx, run, 'privileges_granted', `${granted.length} permission sets given to people of ${orgUsername}`, {
    after: { orgUsername, granted: pairsOf(granted), expiresAt: granted[0]?.expiresAt ?? null },
  });
};

interface EndOfGrants {
  runId: string;
  grants: readonly GrantRow[];
  /** False: they could not be taken back, and may still be there. */
  isTakenBack: boolean;
  error: string | null;
}

/** Audits and announces that what a run has given is gone, or cannot be taken back; the same failure once. */
export async function announceEnd(tx: Tx, { runId, grants, isTakenBack, error }: EndOfGrants): Promise<void> {
  if (!isTakenBack && error !== null && !(await noteGrantError(tx, runId, error)) && grants[0]?.error === error) return;
  const run = await findRun(tx, runId);
  const orgUsername = grants[0]?.orgUsername ?? '';
  const summary = isTakenBack
    ? `${grants.length} permission sets taken back from people of ${orgUsername}`
    : `${grants.length} permission sets could not be taken back from people of ${orgUsername}: ${error}`;
  const action = isTakenBack ? 'privileges_taken_back' : 'privileges_not_taken_back';
  auditRun(tx, { id: runId, repositoryIdentifier: run?.repositoryIdentifier ?? null }, action, summary, {
    after: { orgUsername, privileges: pairsOf(grants), error },
  });
  emitEvent(tx, 'privileges.expired', {
    executionId: runId,
    orgUsername,
    usernames: [...new Set(grants.map(({ username }) => username))],
    permissionSets: [...new Set(grants.map(({ permissionSet }) => permissionSet))],
    isTakenBack,
    error,
  });
}
