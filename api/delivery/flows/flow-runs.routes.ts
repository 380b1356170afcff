import { Readable } from 'node:stream';
import { z } from 'zod';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import { countRuns, listRuns, type RunFilter } from '../../../domain/delivery/flows/run-list.queries.ts';
import { stepsOfRun } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { outputOf } from '../../../domain/delivery/flows/programs/run-output.ts';
import { tailText } from '../../../domain/delivery/flows/programs/output-rules.ts';
import { keptOutput } from '../../../domain/delivery/flows/programs/run-programs.queries.ts';
import { runDetail } from '../../../domain/delivery/flows/run-detail.queries.ts';
import { requestCancel } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { runWarnings } from '../../../domain/delivery/flows/gates/run-warnings.ts';
import { displayOf, statusesOf } from '../../../domain/delivery/flows/run-status-rules.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { flowRunContract } from '../../../workflows/delivery/flows/flow-run.contract.ts';
import { EngineUnavailableError } from '../../../workflows/launch.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId } from '../../http/parameters.ts';
import { pageReply, RawReply, reply } from '../../http/replies.ts';
import type { Scope } from '../../http/scope.ts';
import { Run, RunDetail, Runs, RunsQuery } from './flow-runs.schemas.ts';
import { runView, statesView, stepView } from './run-view.ts';

const GROUP = 'Flows';
const DAY_MS = 86_400_000;

async function detail(
  { reads, adapters, actor, now }: Pick<Scope, 'reads' | 'adapters' | 'actor' | 'now'>,
  id: string,
): Promise<z.input<typeof RunDetail>> {
  const {
    payload,
    result,
    outputTail,
    outputSoFar,
    outputBytes,
    hasWorkflow,
    progress,
    moves,
    approvalId,
    tickets,
    cancelRequestedAt,
    schedulePath,
    children,
    locks,
    policyViolations,
    ...row
  } = await runDetail(reads, id);
  const steps = await stepsOfRun(reads, id);
  const temporalUrl = hasWorkflow
    ? adapters.flows.workflowUrl(
        adapters.launch.idOf(flowRunContract, {
          ...tenantOf(actor),
          runId: id,
          taskType: row.taskType,
          workflowPath: row.workflowPath,
        }),
      )
    : undefined;
  return {
    ...runView(row, now()),
    warnings: await runWarnings(reads, actor, payload),
    payload,
    result,
    progress,
    outputTail: tailText({ outputTail, outputSoFar }),
    outputBytes:
      typeof result.outputBytes === 'number' ? result.outputBytes : outputBytes === null ? null : Number(outputBytes),
    cancelRequestedAt,
    schedulePath,
    locks,
    policyViolations,
    states: statesView({ ...row, hasWorkflow, moves, approvalId, tickets }),
    steps: steps.map(stepView),
    children: children.map(({ status, ...child }) => ({ ...child, status: displayOf(status) })),
    ...(temporalUrl !== undefined && { temporalUrl }),
  };
}

export const flowRunsRoutes = [
  defineRoute({
    operationId: 'listFlowRuns',
    method: 'get',
    path: '/api/flows/runs',
    group: GROUP,
    summary: 'List runs, newest first',
    description: 'Scheduled and internal runs are omitted unless requested. Counts apply after filtering.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: RunsQuery,
    status: 200,
    response: Runs,
    async handle({ query }, { reads, requestUrl, now }) {
      const { limit, page, counts, repositoryIdentifier, category, taskType, status, ...rest } = query;
      const { workItemKey, since, date, release: releaseName, parent: parentId, ...others } = rest;
      const project =
        repositoryIdentifier === undefined ? undefined : await projectInRequest(reads, repositoryIdentifier);
      const from = since && ('msBefore' in since ? new Date(now().getTime() - since.msBefore) : since);
      const offset = (page - 1) * limit;
      const filter: RunFilter = {
        ...others,
        releaseName,
        parentId,
        projectId: project?.id,
        categories: category,
        taskTypes: taskType,
        statuses: status && statusesOf(status),
        workItemKeys: workItemKey,
        since: date && from ? new Date(Math.max(date.getTime(), from.getTime())) : (date ?? from),
        until: date && new Date(date.getTime() + DAY_MS),
      };
      const paced = reads.with({ pace: 'varies' });
      const { runs, total, isExact } = await listRuns(paced, filter, { limit, offset });
      const body = {
        ...(counts && { counts: await countRuns(paced, filter) }),
        runs: runs.map((run) => runView(run, now())),
        count: runs.length,
        totalCount: total,
        totalCountIsExact: isExact,
        page,
      };
      return pageReply(requestUrl, { limit, page, total: isExact ? total : offset + limit + 1 }, body);
    },
  }),
  defineRoute({
    operationId: 'getFlowRun',
    method: 'get',
    path: '/api/flows/runs/{id}',
    group: GROUP,
    summary: 'Get a run with its payload, result, child runs and locks',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: RunDetail,
    handle: ({ params: { id } }, scope) => detail(scope, id),
  }),
  defineRoute({
    operationId: 'getFlowRunOutput',
    method: 'get',
    path: '/api/flows/runs/{id}/output',
    group: GROUP,
    summary: 'Get the output of a run, up to 64 MiB',
    description:
      'What the command of the run prints, what the git host tells of its pipeline (states of jobs, and their logs as far as the host gives them), or a log of what the service itself does. While the run goes on, it is what there is by now, at most the last 64 KiB, written about once a second: `X-Output-Complete` is then `false`, and stays so where the rest was lost or is not kept. `X-Output-Offset` is the position of the first byte of the reply in all of the output. Takes `Range` by the same positions; a part that is not kept any more is left out, and one that was not printed yet gets 416. When a run of the service itself ends, its report takes the place of the log. A run that ended without output gets 404.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    headers: z.object({ range: z.string().max(200).optional() }),
    status: 200,
    otherStatuses: [206],
    response: z.string(),
    contentTypes: ['text/plain'],
    errors: ['range_not_satisfiable'],
    async handle({ params: { id }, headers: { range } }, { reads, adapters }) {
      const part = await outputOf(await keptOutput(reads, id), adapters.objects.store, range ?? null);
      const content = part.content instanceof Readable ? part.content : Buffer.from(part.content);
      const answer = new RawReply('text/plain; charset=utf-8', content, {
        'Accept-Ranges': 'bytes',
        'X-Output-Complete': String(part.isComplete),
        'X-Output-Offset': String(part.from),
        ...(part.range !== undefined && { 'Content-Range': part.range }),
      });
      return part.range === undefined ? answer : reply(answer, { status: 206 });
    },
  }),
  defineRoute({
    operationId: 'cancelFlowRun',
    method: 'post',
    path: '/api/flows/runs/{id}/cancel',
    group: GROUP,
    summary: 'Cancel a run',
    description:
      'Ends waiting for approval, releases the lock and stops the command. The reply may still show the run as open. Cancelling a cancelled run changes nothing.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: Run,
    errors: ['invalid_transition'],
    audit: ['flow.cancel_requested', 'flow.run_ended'],
    async handle({ params: { id } }, scope) {
      const cancelled = await scope.tx((tx) => requestCancel(tx, id));
      if (cancelled) {
        try {
          await scope.adapters.launch.cancel(flowRunContract, {
            ...tenantOf(scope.actor),
            runId: id,
            taskType: cancelled.taskType,
            workflowPath: cancelled.workflowPath,
          });
        } catch (error) {
          if (!(error instanceof EngineUnavailableError)) throw error;
          scope.log.warn({ err: error, runId: id }, 'workflow not cancelled yet; the sweeper will retry');
        }
      }
      return runView(await runDetail(scope.reads, id), scope.now());
    },
  }),
];
