import { notFound } from '../shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import { describeChildren, type CheckKind } from './check-rules.ts';
import { wantChecks } from './flow-checks.queries.ts';
import { latestChildren, moveRun, type RunContext, runById } from './flow-runs.queries.ts';
import { endRun, reviseEnd } from './run-moves.ts';
import { keepReport } from './run-reports.queries.ts';
import { type FinalStatus, isFinal, outcomeOf, type RunStatus } from './run-status-rules.ts';

/** What a worker outside says of one child. */
export interface ChildReport {
  childId: string;
  domainName?: string | undefined;
  status: RunStatus;
}

export interface Reconciled {
  run: RunContext;
  /** Its workflow has to be told. */
  isToTell: boolean;
  /** There is something to write to the host. */
  hasChecks: boolean;
}

/**
 * Takes in what is said of a child, then derives the outcome of the parent from the latest attempt of each of its
 * children: nothing while one is open. Done twice, it comes to the same. Throws `not_found`.
 */
export async function reconcileRun(
  tx: Tx,
  parentId: string,
  kinds: readonly CheckKind[],
  report?: ChildReport,
): Promise<Reconciled> {
  const run = await runById(tx, parentId, { isLocked: true });
  if (report) await takeIn(tx, parentId, report);
  const children = await latestChildren(tx, parentId);
  const status = outcomeOf(children.map((child) => child.status));
  if (status === undefined) return { run, isToTell: false, hasChecks: false };
  const description = describeChildren(
    children.map((child) => ({ name: child.domain ?? child.flowPath, status: child.status as FinalStatus })),
  );
  const hasChecks = await wantChecks(tx, parentId, kinds, { status, description });
  if (run.hasWorkflow && !isFinal(run.status)) {
    await keepReport(tx, parentId, { status, ...(status === 'succeeded' ? {} : { error: description }) });
    return { run, isToTell: true, hasChecks };
  }
  const outcome = { status, ...(status === 'succeeded' ? {} : { error: description }) };
  if (isFinal(run.status)) await reviseEnd(tx, run, outcome);
  else await endRun(tx, run, outcome);
  return { run, isToTell: false, hasChecks };
}

/** A child that has a workflow of its own is moved by that alone. */
async function takeIn(tx: Tx, parentId: string, { childId, domainName, status }: ChildReport): Promise<void> {
  const child = await runById(tx, childId, { isLocked: true });
  if (child.parentId !== parentId) throw notFound('The child run');
  if (domainName !== undefined && child.domain === null) {
    await tx.sql('update flow_run set domain = ? where tenant_id = ? and id = ?', [domainName, tx.tenantId, childId]);
  }
  if (child.hasWorkflow) return;
  if (isFinal(status)) await endRun(tx, child, { status });
  else await moveRun(tx, childId, { status });
}
