import { Context } from '@temporalio/activity';
import type { RunKey } from '../../domain/flows/accept-run.ts';
import type { Commands } from '../../domain/flows/commands-file.ts';
import {
  DEFAULT_PIPELINE_MINUTES,
  type ExecutorName,
  executorOf,
  whyUnavailable,
} from '../../domain/flows/executor-rules.ts';
import { type ClaimedRun, claimRun, moveRun, type RunContext, runById } from '../../domain/flows/flow-runs.queries.ts';
import { flowType } from '../../domain/flows/flow-types.ts';
import { beginExecution, endRun, type RunOutcome } from '../../domain/flows/run-moves.ts';
import { isFinal, type OpenStatus } from '../../domain/flows/run-status-rules.ts';
import type { FindGitHost } from '../../domain/git-hosts/git-host.port.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import type { UnitOfWork } from '../../domain/unit-of-work.ts';
import type { Deps } from '../deps.ts';

export interface RunPlan {
  isOver: false;
  gates: { approval: boolean; lock: { environmentId: string; leaseMinutes: number } | null };
  executor: ExecutorName;
  /** Nothing stood before it: it is being carried out already. */
  isRunning: boolean;
  /** Of a pipeline. */
  timeoutSeconds: number;
}
/** There is nothing to do; a parent, if any, may want to know. */
interface NoPlan {
  isOver: true;
  parentId: string | null;
}

const LEASE_MINUTES = 30;
const CANCELLED: RunOutcome = { status: 'cancelled' };
const LOST: RunOutcome = { status: 'failed', error: 'The engine lost the workflow that carried the run out' };

/** A unit of work in the name of the flows, which keeps request and trace of what caused the run. */
export const unitOfRun = (
  { actingAs }: Pick<Deps, 'actingAs'>,
  { tenantId, requestId, traceparent }: RunKey,
): UnitOfWork => actingAs(systemActor(tenantId, 'flow'), { requestId, traceparent });

/** The steps by which a run's workflow moves its row. Each may be repeated. */
export const createRunStepActivities = (deps: Deps) => ({
  /** Finds what a run needs, and begins it at once when that is nothing; one that cannot be carried out is ended. */
  async beginRun(key: RunKey): Promise<RunPlan | NoPlan> {
    const unit = unitOfRun(deps, key);
    const engineRunId = Context.current().info.workflowExecution?.runId ?? key.runId;
    const { run, plan } = await unit(async (tx): Promise<{ run?: RunContext | undefined; plan?: RunPlan }> => {
      const claimed = await claimRun(tx, key.runId, engineRunId);
      if (!claimed || isFinal(claimed.run.status)) return { run: claimed?.run };
      const made = planOf(claimed.run, deps.flows.commands);
      const refusal = refusalOf(claimed) ?? made.refusal;
      if (refusal) await endRun(tx, claimed.run, refusal);
      else if (made.plan?.isRunning && made.plan.executor !== 'cicd') await beginExecution(tx, claimed.run);
      return { run: claimed.run, ...(!refusal && made.plan && { plan: made.plan }) };
    });
    if (!run || !plan) return { isOver: true, parentId: run?.parentId ?? null };
    if (plan.executor !== 'cicd') return plan;
    const refusal = await hostRefusal(deps.git.findHost, key.tenantId, run);
    if (refusal) {
      await unit((tx) => endRun(tx, run, refusal));
      return { isOver: true, parentId: run.parentId };
    }
    if (plan.isRunning) await unit((tx) => beginExecution(tx, run));
    return plan;
  },

  /** Notes where a run stands; a run that is over stays so. */
  enterStep: ({ status, ...key }: RunKey & { status: OpenStatus }): Promise<void> =>
    unitOfRun(
      deps,
      key,
    )(async (tx) => {
      if (status === 'running') await beginExecution(tx, await runById(tx, key.runId, { isLocked: true }));
      else await moveRun(tx, key.runId, { status });
    }),

  /** Ends a run with what it came to. */
  endRun: ({ outcome, ...key }: RunKey & { outcome: RunOutcome }): Promise<{ parentId: string | null }> =>
    unitOfRun(
      deps,
      key,
    )(async (tx) => {
      const run = await runById(tx, key.runId, { isLocked: true });
      await endRun(tx, run, outcome);
      return { parentId: run.parentId };
    }),
});
export type RunStepActivities = ReturnType<typeof createRunStepActivities>;

function refusalOf({ run, isLost }: ClaimedRun): RunOutcome | undefined {
  if (isLost) return LOST;
  return run.cancelRequestedAt === null ? undefined : CANCELLED;
}

type Planned = { plan: RunPlan; refusal?: undefined } | { plan?: undefined; refusal: RunOutcome };

function planOf({ taskType, payload, environmentId, approvalPolicy }: RunContext, commands: Commands): Planned {
  const type = flowType(taskType);
  const executor =
    type && executorOf(type, { hasPipeline: payload.pipeline !== undefined, hasCommand: commands.has(taskType) });
  if (!executor) return { refusal: { status: 'failed', error: whyUnavailable(taskType) } };
  const approval = type.gates.approval && (approvalPolicy !== null || payload.approvalPolicy !== undefined);
  const lock = type.gates.lock && environmentId !== null ? { environmentId, leaseMinutes: LEASE_MINUTES } : null;
  const timeoutSeconds = (payload.pipeline?.timeoutMinutes ?? DEFAULT_PIPELINE_MINUTES) * 60;
  return {
    plan: { isOver: false, gates: { approval, lock }, executor, isRunning: !approval && !lock, timeoutSeconds },
  };
}

async function hostRefusal(
  findGitHost: FindGitHost,
  tenantId: string,
  { id, projectId, platform }: RunContext,
): Promise<RunOutcome | undefined> {
  if (projectId === null || platform === null)
    return { status: 'failed', error: 'A pipeline needs a repository: the payload names none' };
  if (await findGitHost({ tenantId, projectId, platform, purpose: `pipeline of run ${id}` })) return undefined;
  return { status: 'failed', error: `No credential for ${platform} is kept: an integration is missing` };
}
