import { Readable } from 'node:stream';
import { z } from 'zod';
import type { Commands } from '../../../domain/delivery/flows/programs/commands-file.ts';
import { type AcceptedRun, acceptNewRun, rerun } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import { listRuns } from '../../../domain/delivery/flows/run-list.queries.ts';
import { stepsOfRun } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { runDetail } from '../../../domain/delivery/flows/run-detail.queries.ts';
import { requestCancel } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { runWarnings } from '../../../domain/delivery/flows/gates/run-warnings.ts';
import { displayOf, statusesOf } from '../../../domain/delivery/flows/run-status-rules.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { notFound } from '../../../domain/kernel/shared/errors.ts';
import type { Tx } from '../../../domain/unit-of-work.ts';
import { flowRunContract } from '../../../workflows/delivery/flows/flow-run.contract.ts';
import { EngineUnavailableError } from '../../../workflows/launch.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId } from '../../http/parameters.ts';
import { pageReply, RawReply } from '../../http/replies.ts';
import type { Scope } from '../../http/scope.ts';
import { Run, RunDetail, RunIn, Runs, RunsQuery, RunStarted } from './flow-runs.schemas.ts';
import { runView, stepView } from './run-view.ts';

const GROUP = 'Flows';
const DAY_MS = 86_400_000;

/**
 * Accepts a run and starts its workflow after the commit.
 * @param payload default: that of the run, which is read.
 */
async function start(
  scope: Pick<Scope, 'tx' | 'adapters' | 'now' | 'requestId'>,
  accept: (tx: Tx, options: { requestId: string; commands: Commands }) => Promise<AcceptedRun>,
  payload?: Record<string, unknown>,
) {
  const { requestId, adapters } = scope;
  const { accepted, warnings } = await scope.tx(async (tx) => {
    const run = await accept(tx, { requestId, commands: adapters.flows.commands });
    const { payload: checked } = payload ? { payload } : await runDetail(tx, run.runId);
    return { accepted: run, warnings: await runWarnings(tx, tx.actor, checked) };
  });
  scope.adapters.launch.startInBackground(flowRunContract, accepted);
  return {
    id: accepted.runId,
    taskType: accepted.taskType,
    status: 'started' as const,
    triggeredAt: scope.now(),
    warnings,
  };
}

async function detail(
  { reads, adapters, actor, now }: Pick<Scope, 'reads' | 'adapters' | 'actor' | 'now'>,
  id: string,
): Promise<z.input<typeof RunDetail>> {
  const {
    payload,
    result,
    outputTail,
    hasWorkflow,
    outputObject: _,
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
    outputTail,
    outputBytes: typeof result.outputBytes === 'number' ? result.outputBytes : null,
    cancelRequestedAt,
    schedulePath,
    locks,
    policyViolations,
    steps: steps.map(stepView),
    children: children.map(({ status, ...child }) => ({ ...child, status: displayOf(status) })),
    ...(temporalUrl !== undefined && { temporalUrl }),
  };
}

export const flowRunsRoutes = [
  defineRoute({
    operationId: 'startFlowRun',
    method: 'post',
    path: '/api/flows/run',
    group: GROUP,
    summary: 'Start a run of a flow',
    description: [
      'The run is stored and listed immediately, and executed as soon as the workflow engine and a worker are available. A flow type that nothing here executes is refused with 409 `flow_unavailable`, and the detail says what would make it available. `rollback-release` deploys the release that the environment ran before, or `toReleaseName`; if there is nothing to roll back to, the reply is 409 with the reason.',
      'A type that takes a release to environments (`execute-release`, `request-release`, `rollback-release`) is refused for a release candidate that does not exist in the domain (404), was aborted, or is on a branch that the environment does not take (409); all of that, and that its content is the one that was approved, is checked again right before the work begins. `execute-release` is also refused (409, with `nextWindowAt`) while the release must first be deployed elsewhere, or for longer (`promotion.after`, `soakMinutes`); the child runs of `request-release` wait for that, and a rollback needs none of it.',
      'The approval is requested immediately. One that could never be given, since without those who ask for it too few people may, refuses the run (409 `too_few_approvers`). Then a run that takes a release, installs something (`install-packages`, `install-artifacts`, `install-changeset`), or refreshes or deletes a sandbox (`request-sandbox-refresh`, `request-sandbox-delete`) waits in `waiting_window` while an environment of its org is outside its windows or frozen, and its `nextWindowAt` says until when; with `failOutsideWindow` it fails instead. An owner passes windows, freezes, `after` and `soakMinutes` with `override: {reason}`, but nothing else.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    body: RunIn,
    status: 202,
    response: RunStarted,
    errors: ['flow_unavailable', 'too_few_approvers', 'invalid_transition'],
    audit: ['flow.run_requested', 'promotion.overridden', 'work_item_request.updated'],
    handle: ({ body: { payload } }, scope) =>
      start(scope, (tx, options) => acceptNewRun(tx, payload, options), payload),
  }),
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
      const { limit, page, repositoryIdentifier, category, taskType, status, workItemKey, since, date, ...filter } =
        query;
      const project =
        repositoryIdentifier === undefined ? undefined : await projectInRequest(reads, repositoryIdentifier);
      const from = since && ('msBefore' in since ? new Date(now().getTime() - since.msBefore) : since);
      const offset = (page - 1) * limit;
      const { runs, total, isExact } = await listRuns(
        reads.with({ pace: 'varies' }),
        {
          ...filter,
          projectId: project?.id,
          categories: category,
          taskTypes: taskType,
          statuses: status && statusesOf(status),
          workItemKeys: workItemKey,
          since: date && from ? new Date(Math.max(date.getTime(), from.getTime())) : (date ?? from),
          until: date && new Date(date.getTime() + DAY_MS),
        },
        { limit, offset },
      );
      const body = {
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
    summary: 'Get the output of the command of a run, up to 64 MiB',
    description:
      'Available after the run has ended, for runs that were executed by a command; otherwise the reply is 404.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: z.string(),
    contentTypes: ['text/plain'],
    async handle({ params: { id } }, { reads, adapters }) {
      const { outputObject, outputTail, result } = await runDetail(reads, id);
      const isTailAll = outputTail !== null && Buffer.byteLength(outputTail) === result.outputBytes;
      const kept = outputObject === null ? undefined : await adapters.objects.store.get(outputObject);
      const content = kept ?? (isTailAll ? [outputTail] : undefined);
      if (!content) throw notFound('The output of the run');
      return new RawReply('text/plain; charset=utf-8', Readable.from(content));
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
  defineRoute({
    operationId: 'rerunFlowRun',
    method: 'post',
    path: '/api/flows/runs/{id}/rerun',
    group: GROUP,
    summary: 'Rerun a run that has ended',
    description:
      'Starts a new run with the same payload, which is checked as in `POST /api/flows/run`; one with an override can be rerun by owners only. Rerunning a child run creates the latest attempt of that child.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 202,
    response: RunStarted,
    errors: ['flow_unavailable', 'too_few_approvers', 'invalid_transition'],
    audit: ['flow.run_requested', 'promotion.overridden', 'work_item_request.updated'],
    handle: ({ params: { id } }, scope) => start(scope, (tx, options) => rerun(tx, id, options)),
  }),
];
