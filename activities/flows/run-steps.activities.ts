import { Context } from '@temporalio/activity';
import type { RunKey } from '../../domain/flows/accept-run.ts';
import { findRun, moveRun, type RunContext, runById } from '../../domain/flows/flow-runs.queries.ts';
import type { RunPlan as Plan } from '../../domain/flows/executor-rules.ts';
import { beginExecution, beginRun, endRun, type RunOutcome } from '../../domain/flows/run-moves.ts';
import type { OpenStatus } from '../../domain/flows/run-status-rules.ts';
import type { FindGitHost } from '../../domain/git-hosts/git-host.port.ts';
import { systemActor, type TenantKey } from '../../domain/shared/actor.ts';
import type { Tx, UnitOfWork } from '../../domain/unit-of-work.ts';
import type { Deps } from '../deps.ts';

export interface RunPlan extends Omit<Plan, 'isUngated'> {
  isOver: false;
  /** No gate stood before it: it is being carried out already. */
  isRunning: boolean;
}
/** There is nothing to do; its parent, if any, is to be signalled. */
interface NoPlan {
  isOver: true;
  parent: ParentRun | null;
  /** How the run ended; null when another execution has it. */
  outcome: Pick<RunOutcome, 'status' | 'error'> | null;
}

/** What the id of the workflow of a run's parent is made of. */
export interface ParentRun {
  runId: string;
  taskType: string;
}

async function parentOf(tx: Tx, { parentId }: Pick<RunContext, 'parentId'>): Promise<ParentRun | null> {
  const parent = parentId === null ? undefined : await findRun(tx, parentId);
  return parent ? { runId: parent.id, taskType: parent.taskType } : null;
}

/** A unit of work in the name of the flows, which keeps request and trace of what caused the run. */
export const unitOfRun = (
  { actingAs }: Pick<Deps, 'actingAs'>,
  { requestId, traceparent, ...tenant }: RunKey,
): UnitOfWork => actingAs(systemActor(tenant, 'flow'), { requestId, traceparent });

/** The steps by which a run's workflow moves its row. Retrying each is safe. */
export const createRunStepActivities = (deps: Deps) => ({
  /** Plans a run, and begins it at once when no gate stands before it; one that cannot be carried out is ended. */
  async beginRun(key: RunKey): Promise<RunPlan | NoPlan> {
    const unit = unitOfRun(deps, key);
    const engineRunId = Context.current().info.workflowExecution?.runId ?? key.runId;
    const { run, plan, outcome = null } = await unit((tx) => beginRun(tx, key.runId, engineRunId, deps.flows.commands));
    if (!run) return { isOver: true, parent: null, outcome };
    const over = async (ended: NoPlan['outcome']): Promise<NoPlan> => ({
      isOver: true,
      parent: await unit((tx) => parentOf(tx, run)),
      outcome: ended,
    });
    if (!plan) return over(outcome);
    const { isUngated: isRunning, ...how } = plan;
    const answer = { isOver: false, ...how, isRunning } as const;
    if (plan.executor !== 'cicd') return answer;
    const refusal = await hostRefusal(deps.git.findHost, key, run);
    if (refusal) {
      await unit((tx) => endRun(tx, run, refusal));
      return over(refusal);
    }
    if (isRunning) await unit((tx) => beginExecution(tx, run));
    return answer;
  },

  /** Moves a run to the step that it has reached; a final run stays as it is. */
  enterStep: ({ status, ...key }: RunKey & { status: OpenStatus }): Promise<void> =>
    unitOfRun(
      deps,
      key,
    )(async (tx) => {
      if (status === 'running') await beginExecution(tx, await runById(tx, key.runId, { forUpdate: true }));
      else await moveRun(tx, key.runId, { status });
    }),

  /** Ends a run. */
  endRun: ({ outcome, ...key }: RunKey & { outcome: RunOutcome }): Promise<{ parent: ParentRun | null }> =>
    unitOfRun(
      deps,
      key,
    )(async (tx) => {
      const run = await runById(tx, key.runId, { forUpdate: true });
      await endRun(tx, run, outcome);
      return { parent: await parentOf(tx, run) };
    }),
});
export type RunStepActivities = ReturnType<typeof createRunStepActivities>;

async function hostRefusal(
  findGitHost: FindGitHost,
  { tenantId, tenantSlug }: TenantKey,
  { id, projectId, platform }: RunContext,
): Promise<RunOutcome | undefined> {
  if (projectId === null || platform === null)
    return { status: 'failed', error: 'A pipeline needs a repository: the payload names none' };
  if (await findGitHost({ tenantId, tenantSlug, projectId, platform, purpose: `pipeline of run ${id}` }))
    return undefined;
  return { status: 'failed', error: `No credential for ${platform} is kept: an integration is missing` };
}
