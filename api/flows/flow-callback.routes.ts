import { notePipeline, runById } from '../../domain/flows/flow-runs.queries.ts';
import { endRun, type RunOutcome } from '../../domain/flows/run-moves.ts';
import { keepReport } from '../../domain/flows/run-reports.queries.ts';
import { isFinal } from '../../domain/flows/run-status-rules.ts';
import { flowRun, REPORTED_SIGNAL } from '../../workflows/flows/flow-run.contract.ts';
import { EngineUnavailableError } from '../../workflows/launch.ts';
import { defineRoute } from '../http/define-route.ts';
import { NoContent } from '../http/parameters.ts';
import { CallbackIn } from './flow-internal.schemas.ts';
import { byId } from './flow-runs.schemas.ts';

const ENDS = { completed: 'succeeded', failed: 'failed', rejected: 'rejected', cancelled: 'cancelled' } as const;

export const flowCallbackRoutes = [
  defineRoute({
    operationId: 'reportRunProgress',
    method: 'post',
    path: '/api/flows/internal/{id}/callback',
    group: 'Flows: internal',
    summary: 'Report how the pipeline or the worker of a run gets on',
    description:
      'Pipelines get the run as the input `executionId`. The first end that is reported counts; a report on a run that is over changes nothing.',
    roles: ['application'],
    params: byId,
    body: CallbackIn,
    status: 204,
    response: NoContent,
    audit: ['flow.reported', 'flow.run_ended'],
    async handle({ params: { id }, body: { event, cicdRunUrl, error, result } }, { tx, adapters, actor, log }) {
      const run = await tx(async (work) => {
        const found = await runById(work, id, { isLocked: true });
        if (isFinal(found.status)) return undefined;
        if (cicdRunUrl !== undefined) await notePipeline(work, id, { runId: null, url: cicdRunUrl });
        work.audit({
          source: 'flow',
          action: 'flow.reported',
          entityType: 'flow_run',
          entityId: id,
          repositoryIdentifier: found.repositoryIdentifier,
          summary: `Run of ${found.taskType} reported ${event}`,
          after: { event, error: error ?? null },
        });
        if (event === 'started') return undefined;
        const outcome: RunOutcome = { status: ENDS[event], error, result };
        if (found.hasWorkflow) await keepReport(work, id, outcome);
        else await endRun(work, found, outcome);
        return found.hasWorkflow ? found : undefined;
      });
      if (!run) return;
      try {
        await adapters.launch.tell(
          flowRun,
          { tenantId: actor.tenantId, runId: id, taskType: run.taskType },
          REPORTED_SIGNAL,
        );
      } catch (failure) {
        if (!(failure instanceof EngineUnavailableError)) throw failure;
        log.warn({ err: failure, runId: id }, 'the engine learns of a report later');
      }
    },
  }),
];
