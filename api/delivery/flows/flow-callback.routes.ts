import { reportRun } from '../../../domain/delivery/flows/programs/external-runs.mutations.ts';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import { flowRunContract, pipelineReportedSignal } from '../../../workflows/delivery/flows/flow-run.contract.ts';
import { EngineUnavailableError } from '../../../workflows/launch.ts';
import { defineRoute } from '../../http/define-route.ts';
import { byId, NoContent } from '../../http/parameters.ts';
import { CallbackIn } from './flow-internal.schemas.ts';

export const flowCallbackRoutes = [
  defineRoute({
    operationId: 'reportRunProgress',
    method: 'post',
    path: '/api/flows/internal/{id}/callback',
    group: 'Flows: internal',
    summary: 'Report the progress of a run from its pipeline or worker',
    description:
      'Pipelines receive the id of the run as the input `executionId`. Commands report with the token that they get (`QUAYSIDE_TOKEN`). The first reported outcome counts; a report on a run that has ended is ignored.',
    roles: ['application'],
    projectScope: 'row',
    params: byId,
    body: CallbackIn,
    admitsRun: ({ runId }, { params: { id } }) => id === runId,
    status: 204,
    response: NoContent,
    audit: ['flow.reported', 'flow.run_ended'],
    async handle({ params: { id }, body }, { tx, adapters, actor, log }) {
      const run = await tx((work) => reportRun(work, id, body));
      if (!run) return;
      try {
        await adapters.launch.signal(
          flowRunContract,
          { ...tenantOf(actor), runId: id, taskType: run.taskType, workflowPath: run.workflowPath },
          pipelineReportedSignal,
        );
      } catch (failure) {
        if (!(failure instanceof EngineUnavailableError)) throw failure;
        log.warn({ err: failure, runId: id }, 'report not signalled to the workflow, which will poll for it');
      }
    },
  }),
];
