import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { invalidField } from '../../../kernel/shared/errors.ts';
import { lockStatuses } from '../../environment-locks/environment-locks.queries.ts';
import { isAtWork } from '../../flows/run-status-rules.ts';
import { withMaintenance } from '../../promotion/promotion.queries.ts';
import { thawAfter } from '../../promotion/window-rules.ts';
import { activeEnvironments, type ColumnEnvironment, openApprovalsOf, type OpenRun } from './matrix.queries.ts';

/** The most environments of one matrix. */
export const COLUMNS_MAX = 30;

/**
 * The environments that are columns, in the order in which releases travel: those that are named, else all active ones.
 * Throws `invalid_request` for a name that no active environment has, and where there are too many to leave names out.
 * @param names names or ids.
 */
export async function columnEnvironments(
  reads: Reads,
  projectId: string,
  names: readonly string[],
): Promise<ColumnEnvironment[]> {
  const active = await activeEnvironments(reads, projectId);
  const unknown = names.find((given) => !active.some(({ id, name }) => given === name || given === id));
  if (unknown !== undefined)
    throw invalidField('environments', `${unknown} is not an active environment of the project`);
  if (names.length > 0) return active.filter(({ id, name }) => names.includes(name) || names.includes(id));
  if (active.length <= COLUMNS_MAX) return active;
  throw invalidField(
    'environments',
    `The project has ${active.length} active environments: environments is required, with at most ${COLUMNS_MAX} of them`,
  );
}

/** What stands above each column: who holds it, what waits for it, and until when it is frozen. */
export async function matrixColumns(
  reads: Reads,
  environments: readonly ColumnEnvironment[],
  openRuns: Promise<readonly OpenRun[]>,
  now: Date,
) {
  const ids = environments.map(({ id }) => id);
  const [lockOf, frozen, approvals, runs] = await Promise.all([
    lockStatuses(reads, ids),
    withMaintenance(reads, environments),
    openApprovalsOf(reads, ids),
    openRuns,
  ]);
  return frozen.map(({ id, name, category, promotion }) => {
    const { isLocked, heldBy, waiting } = lockOf(id);
    const thaw = thawAfter(promotion ?? {}, now.getTime());
    return {
      environmentId: id,
      name,
      category,
      isLocked,
      heldBy,
      waitingLocks: waiting,
      openApprovals: approvals.get(id) ?? 0,
      frozenUntil: thaw === null ? null : new Date(thaw).toISOString(),
      running: runs.filter((run) => run.environmentId === id && isAtWork(run.status)).length,
    };
  });
}
