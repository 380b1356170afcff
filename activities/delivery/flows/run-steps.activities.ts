import { Context } from '@temporalio/activity';
import type { RunKey } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import { findRun, type RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import type { OutputSoFar } from '../../../domain/delivery/flows/programs/program.port.ts';
import { showOutputSoFar } from '../../../domain/delivery/flows/run-progress.mutations.ts';
import type { RunPlan as Plan } from '../../../domain/delivery/flows/programs/executor-rules.ts';
import { closeRun, endRun, type RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import {
  awaitWindow,
  beginExecution,
  beginGatedRun,
  beginRun,
  waitAtGate,
  type WindowState,
} from '../../../domain/delivery/flows/run-begins.mutations.ts';
import { endOfCommand } from '../../../domain/delivery/flows/run-deployment-rules.ts';
import { endRunToken, mintRunToken } from '../../../domain/delivery/flows/run-tokens.mutations.ts';
import type { RunWorkflowKey } from '../../../domain/kernel/shared/workflow-path-rules.ts';
import type { OpenStatus } from '../../../domain/delivery/flows/run-status-rules.ts';
import type { FindGitHost } from '../../../domain/code/git-hosts/git-host.port.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { within } from '../../../domain/kernel/queues/within.ts';
import type { Tx, UnitOfWork } from '../../../domain/unit-of-work.ts';
import type { Deps } from '../../deps.ts';
import { asNonRetryable } from '../../non-retryable.ts';

export interface RunPlan extends Omit<Plan, 'isUngated'> {
  isOver: false;
  /** No gate stood before it: it is being executed already. */
  isRunning: boolean;
  /** The task queue of the process that has started the run's command, which goes on. */
  followOn?: string;
  /** After this, the program of a lost worker has ended; absent in histories of earlier versions. */
  programGoneMs?: number;
}
/** There is nothing to do; its parent, if any, is to be signalled. */
interface NoPlan {
  isOver: true;
  parent: ParentRun | null;
  /** How the run ended; null when another execution has it. */
  outcome: Pick<RunOutcome, 'status' | 'error'> | null;
}

/** What the id of the workflow of a run's parent is made of. */
export type ParentRun = Pick<RunWorkflowKey, 'runId' | 'taskType'> & Partial<RunWorkflowKey>;

interface EndedRun {
  parent: ParentRun | null;
  /** Absent in histories of earlier versions. */
  outcome?: RunOutcome;
}

async function parentOf(tx: Tx, { parentId }: Pick<RunContext, 'parentId'>): Promise<ParentRun | null> {
  const parent = parentId === null ? undefined : await findRun(tx, parentId);
  return parent ? { runId: parent.id, taskType: parent.taskType, workflowPath: parent.workflowPath } : null;
}

/** A unit of work in the name of the flows, which keeps request and trace of what caused the run. */
export const unitOfRun = (
  { actingAs }: Pick<Deps, 'actingAs'>,
  { requestId, traceparent, ...tenant }: RunKey,
): UnitOfWork => actingAs(systemActor(tenant, 'flow'), { requestId, traceparent });

/** Shows what the program of a run has printed so far. */
export const showsOutput =
  (deps: Pick<Deps, 'actingAs'>, key: RunKey, run: RunContext) =>
  (output: OutputSoFar): Promise<void> =>
    unitOfRun(deps, key)((tx) => showOutputSoFar(tx, run, output));

/** A command that has not ended after this is handed to an activity: a cancellation reaches the run only then. */
const BRIEF_MS = 2_000;

/**
 * The steps by which a run's workflow moves its row. Retrying each is safe.
 * @param runsCommands this process works on the commands' queue, too.
 */
export const createRunStepActivities = (deps: Deps, { runsCommands }: { runsCommands: boolean }) => ({
  /**
   * Plans a run, and begins it at once when no gate stands before it; one that cannot be executed is ended. Where
   * this process runs commands, it also executes one that no gate stands before, and ends the run if that is brief.
   */
  beginRun: (key: RunKey): Promise<RunPlan | NoPlan> => begin(deps, key, runsCommands),

  /** Whether a run that takes a release may go on; one that may not waits, and its workflow asks again. */
  awaitWindow: (key: RunKey): Promise<WindowState> =>
    asNonRetryable(() => unitOfRun(deps, key)((tx) => awaitWindow(tx, key.runId, deps.flows.commands))),

  /**
   * Moves a run to the step that it has reached; a final run stays as it is. Its work has not begun when its window
   * closed meanwhile. Fails for good when its gates changed.
   */
  enterStep: ({ status, ...key }: RunKey & { status: OpenStatus }): Promise<{ hasBegun: boolean } | undefined> =>
    asNonRetryable(() =>
      unitOfRun(
        deps,
        key,
      )(async (tx) => {
        if (status === 'running') return { hasBegun: await beginGatedRun(tx, key.runId, deps.flows.commands) };
        await waitAtGate(tx, key.runId, status);
        return undefined;
      }),
    ),

  /** Ends a run; answers how it ended. One that was removed with its project has ended. */
  endRun: ({ outcome, ...key }: RunKey & { outcome: RunOutcome }): Promise<EndedRun> =>
    unitOfRun(
      deps,
      key,
    )(async (tx) => {
      const run = await findRun(tx, key.runId, { forUpdate: true });
      if (!run) return { parent: null, outcome };
      const ended = await closeRun(tx, run, outcome);
      return { parent: await parentOf(tx, run), outcome: ended };
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

async function begin(deps: Deps, key: RunKey, runsCommands: boolean): Promise<RunPlan | NoPlan> {
  const unit = unitOfRun(deps, key);
  const engineRunId = Context.current().info.workflowExecution?.runId ?? key.runId;
  const { commands, commandRuns } = deps.flows;
  const startsPrograms = runsCommands && commandRuns.hasRoom;
  const begun = await unit(async (tx) => {
    const found = await beginRun(tx, key.runId, engineRunId, { commands, startsPrograms });
    const token = found.isProgramClaimed && found.run ? await mintRunToken(tx, found.run, commands) : undefined;
    return { ...found, token };
  });
  const { run, plan, token, outcome = null } = begun;
  if (!run) return { isOver: true, parent: null, outcome };
  const over = (ended: NoPlan['outcome'], end?: (tx: Tx) => Promise<unknown>): Promise<NoPlan> =>
    unit(async (tx) => {
      await end?.(tx);
      return { isOver: true, parent: await parentOf(tx, run), outcome: ended };
    });
  if (!plan) return over(outcome);
  const { isUngated: isRunning, ...how } = plan;
  const programGoneMs = commandRuns.leaseTimes.goneMs;
  const answer = { isOver: false, ...how, isRunning, programGoneMs } as const;
  if (plan.executor === 'command' && isRunning) {
    if (token !== undefined) commandRuns.start(key.tenantId, run, { token, show: showsOutput(deps, key, run) });
    const command = commandRuns.find(run.id);
    if (!command) return answer;
    const ended = await within(BRIEF_MS, command.ended, () => undefined);
    if (!ended) return { ...answer, followOn: commandRuns.taskQueue };
    const running = { ...run, status: 'running' as const };
    const done = await unit(async (tx): Promise<NoPlan> => {
      const reported = await endRunToken(tx, run.id);
      const { status, error, result } = endOfCommand(ended.outcome, reported);
      await endRun(tx, running, { status, error, result: { ...reported?.result, ...result } }, ended.output);
      return { isOver: true, parent: await parentOf(tx, run), outcome: { status, error } };
    });
    commandRuns.forget(run.id);
    return done;
  }
  if (plan.executor !== 'cicd') return answer;
  const refusal = await hostRefusal(deps.git.findHost, key, run);
  if (refusal) return over(refusal, (tx) => endRun(tx, run, refusal));
  if (isRunning) await unit((tx) => beginExecution(tx, run));
  return answer;
}
