import { notFound } from '../../../kernel/shared/errors.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { type AcceptedRun, acceptNewRun } from '../new-runs.mutations.ts';
import type { CheckKind } from '../checks/check-rules.ts';
import { describeChildren, nextStage, outcomeOf } from './child-run-rules.ts';
import { type ChildRun, latestChildren, setDomain } from './child-runs.queries.ts';
import { upsertChecks } from '../checks/flow-checks.queries.ts';
import { noteCancel, type RunContext, runById } from '../flow-runs.queries.ts';
import { moveRun } from '../run-moves.queries.ts';
import { keepReport } from '../programs/pipelines.queries.ts';
import { endRun, reviseEnd, type RunOutcome } from '../flow-runs.mutations.ts';
import { CHILD_OF_RELEASE } from '../flow-types.ts';
import { stagesOf } from '../promoted-runs.ts';
import { isFinal, type RunStatus } from '../run-status-rules.ts';

/** What an external worker reports of one child. */
export interface ChildReport {
  childId: string;
  domainName?: string | undefined;
  status: RunStatus;
}

export interface Reconciled {
  run: RunContext;
  /** Its workflow is to be signalled. */
  hasReport: boolean;
  /** There is something to write to the git host. */
  hasChecks: boolean;
}

/**
 * Records what is reported of a child, then derives the outcome of the parent from the latest attempt of each of its
 * children: nothing while one is open. Retrying is safe. Throws `not_found`.
 */
export async function reconcileRun(
  tx: Tx,
  parentId: string,
  kinds: readonly CheckKind[],
  report?: ChildReport,
): Promise<Reconciled> {
  const run = await runById(tx, parentId, { forUpdate: true });
  if (report) await reportChild(tx, parentId, report);
  const children = await latestChildren(tx, parentId);
  const status = outcomeOf(children.map((child) => child.status));
  if (status === undefined) return { run, hasReport: false, hasChecks: false };
  const description = describeChildren(
    children.map((child) => ({ name: child.domain ?? child.flowPath, status: child.status })),
  );
  const hasChecks = await upsertChecks(tx, parentId, kinds, { status, description });
  const outcome: RunOutcome = { status, ...(status !== 'succeeded' && { error: description }) };
  const hasReport = run.hasWorkflow && !isFinal(run.status);
  if (hasReport) await keepReport(tx, parentId, outcome);
  else if (isFinal(run.status)) await reviseEnd(tx, run, outcome);
  else await endRun(tx, run, outcome);
  return { run, hasReport, hasChecks };
}

/** A child that has a workflow of its own is moved by that alone. */
async function reportChild(tx: Tx, parentId: string, { childId, domainName, status }: ChildReport): Promise<void> {
  const child = await runById(tx, childId, { forUpdate: true });
  if (child.parentId !== parentId) throw notFound('The child run');
  if (domainName !== undefined && child.domain === null) await setDomain(tx, childId, domainName);
  if (child.hasWorkflow) return;
  if (isFinal(status)) await endRun(tx, child, { status });
  else await moveRun(tx, childId, { status });
}

/**
 * Has the validation check of a run written from the results of its domains; nothing while one of them is open.
 * Neither the run nor its children change. Throws `not_found`.
 */
export async function checkDomains(
  tx: Tx,
  runId: string,
  domains: readonly { domainName: string; status: RunStatus }[],
): Promise<Reconciled> {
  const run = await runById(tx, runId);
  const status = outcomeOf(domains.map((domain) => domain.status));
  if (status === undefined) return { run, hasReport: false, hasChecks: false };
  const description = describeChildren(domains.map((domain) => ({ name: domain.domainName, status: domain.status })));
  return { run, hasReport: false, hasChecks: await upsertChecks(tx, runId, ['validation'], { status, description }) };
}

const NO_ENVIRONMENT: RunOutcome = {
  status: 'failed',
  error: 'The repository has no active release environment that takes the release',
};

/**
 * Accepts the children of the next stage of a release when all before it have succeeded, one for each environment.
 * `outcome` is that of all, once there is nothing left to start.
 */
export async function acceptNextStage(
  tx: Tx,
  runId: string,
): Promise<{ accepted: AcceptedRun[]; outcome: RunOutcome | null }> {
  const run = await runById(tx, runId, { forUpdate: true });
  const { projectId, defaultBranch, payload } = run;
  const place = projectId !== null && defaultBranch !== null ? { projectId, defaultBranch } : undefined;
  const environments = place ? await stagesOf(tx, place, payload) : [];
  if (environments.length === 0) return { accepted: [], outcome: NO_ENVIRONMENT };
  const children = await latestChildren(tx, runId);
  const next = nextStage(
    environments.map((environment) => ({
      item: environment,
      order: environment.orchestrationOrder,
      status: children.find(({ environmentId }) => environmentId === environment.id)?.status,
    })),
  );
  const accepted: AcceptedRun[] = [];
  for (const { name } of next) accepted.push(await acceptDeployment(tx, run, name));
  const status = next.length > 0 ? undefined : outcomeOf(children.map((child) => child.status));
  return { accepted, outcome: status === undefined ? null : { status } };
}

/** In the name of whoever requested the parent: they may not approve what they requested. */
function acceptDeployment(
  tx: Tx,
  { id: parentId, payload, triggeredBy, requestedBy }: RunContext,
  environmentName: string,
): Promise<AcceptedRun> {
  const { environmentNames: _, flowPath: __, ...shared } = payload;
  const child = { ...shared, id: CHILD_OF_RELEASE, environmentName };
  return acceptNewRun(tx, child, { parentId, triggeredBy, requestedBy });
}

/** Requests the end of the open children of a run; answers those whose workflows are to be cancelled. */
export async function requestCancelOfChildren(tx: Tx, runId: string): Promise<ChildRun[]> {
  const children = await latestChildren(tx, runId);
  const open = children.filter(({ status, hasWorkflow }) => hasWorkflow && !isFinal(status));
  await noteCancel(
    tx,
    open.map(({ id }) => id),
  );
  return open;
}
