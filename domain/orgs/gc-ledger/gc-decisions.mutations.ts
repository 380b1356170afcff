import { DomainError, notFound } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { announceComponents, type LedgerBranch } from './gc-announcements.ts';
import { changeEntries, findEntry, recordSteps } from './gc-entries.queries.ts';
import { type ComponentName, type Decision, decided } from './gc-ledger-rules.ts';
import { lockGcBranch } from './gc-review.queries.ts';

const DONE: Record<Decision, string> = { dismiss: 'dismissed', reopen: 'reopened' };

/**
 * Dismisses an entry, or reopens it; a repetition changes nothing. Throws `not_found`, and `invalid_transition` where
 * its status does not allow it.
 */
export async function decideGcEntry(
  tx: Tx,
  ledger: LedgerBranch,
  component: ComponentName,
  decision: Decision,
  reason: string | null,
): Promise<void> {
  const at = { projectId: ledger.project.id, branch: ledger.branch };
  await lockGcBranch(tx, at);
  const { packageName, componentType, fullName } = component;
  const entry = await findEntry(tx, at, component);
  if (!entry) throw notFound(`${componentType} ${fullName} of package ${packageName} on branch ${ledger.branch}`);
  const { id: entryId, status: fromStatus } = entry;
  const toStatus = decided(fromStatus, decision);
  if (toStatus === undefined) {
    throw new DomainError('invalid_transition', `A component that is ${fromStatus} cannot be ${DONE[decision]}`);
  }
  if (toStatus === fromStatus) return;
  const state = { status: toStatus, movedTo: null, ownerProjectId: null };
  const marks = { isReported: false, isNewDetection: false, isEvidenceVoid: false };
  await changeEntries(tx, [{ id: entryId, ...state, ...marks }]);
  await recordSteps(tx, at, [{ entryId, fromStatus, toStatus, cause: 'person', movedTo: null }], { reason });
  if (toStatus === 'dismissed') announceComponents(tx, ledger, 'dismissed', [component]);
  tx.audit({
    source: 'crm',
    action: `gc.${DONE[decision]}`,
    entityType: 'gc_entry',
    entityId: entryId,
    repositoryIdentifier: ledger.project.identifier,
    summary: `${componentType} ${fullName} of package ${packageName} on branch ${ledger.branch} ${DONE[decision]}`,
    before: { status: fromStatus },
    after: { branch: ledger.branch, packageName, componentType, fullName, status: toStatus, reason },
  });
}
