import { featureExamples, fresh } from './example.ts';

/** No worker runs in these tests: runs stay as they are accepted. */
export const flowsExamples = featureExamples(
  async (app, { repositoryIdentifier }) => {
    const owner = app.as(app.owner);
    const start = async () =>
      (await owner.post(202, '/api/flows/run', { payload: { id: 'analyze', repositoryIdentifier } })).id as string;
    const register = (parentTaskExecutionId: string) =>
      app.as(app.application).post(200, '/api/flows/internal/register-child', {
        parentTaskExecutionId,
        taskType: 'build-domain',
        flowPath: fresh('path'),
        repositoryIdentifier,
      });
    const [runId, endedRunId] = [await start(), await start()];
    await app.sql(`update flow_run set status = 'failed', display_status = 'Failed', ended_at = now() where id = ?`, [
      endedRunId,
    ]);
    const { executionId: childId } = await register(runId);
    const schedule = await owner.post(201, '/api/flows/schedules', {
      name: fresh('schedule'),
      cron: '0 3 * * *',
      payload: { id: 'analyze', repositoryIdentifier },
    });
    return { runId, endedRunId, childId: childId as string, scheduleId: schedule.id as string };
  },
  {
    postFlowsRun: ({ repositoryIdentifier }) => ({ body: { payload: { id: 'analyze', repositoryIdentifier } } }),
    getFlowsRuns: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
    getFlowsRunsId: ({ runId: id }) => ({ params: { id } }),
    // Nothing was printed: no worker carried it out.
    getFlowsRunsIdOutput: ({ runId: id }) => ({ params: { id }, status: 404 }),
    postFlowsRunsIdCancel: ({ runId: id }) => ({ params: { id } }),
    postFlowsRunsIdRerun: ({ endedRunId: id }) => ({ params: { id } }),
    getFlowsTypes: () => ({}),
    getFlowsHealth: () => ({}),

    postFlowsSchedules: ({ repositoryIdentifier }) => ({
      body: {
        name: fresh('schedule'),
        cron: '*/5 1-4 * * MON-FRI',
        timezone: 'Europe/Berlin',
        payload: { id: 'analyze', repositoryIdentifier },
      },
    }),
    getFlowsSchedules: () => ({}),
    deleteFlowsSchedulesId: ({ scheduleId: id }) => ({ params: { id } }),

    postFlowsInternalRegisterChild: ({ runId, repositoryIdentifier }) => ({
      body: { parentTaskExecutionId: runId, taskType: 'build-domain', flowPath: fresh('path'), repositoryIdentifier },
    }),
    postFlowsInternalRegisterScheduled: ({ repositoryIdentifier }) => ({
      body: {
        hatchetRunId: fresh('run'),
        taskType: 'nightly-clean-up',
        flowPath: 'nightly',
        repositoryIdentifier,
        schedulePath: 'schedules/nightly',
      },
    }),
    patchFlowsInternalIdMetadata: ({ runId: id }) => ({
      params: { id },
      body: { result: { packages: { app: '1.2.3' } } },
    }),
    postFlowsInternalIdReconcileCheck: ({ runId: id, childId }) => ({
      params: { id },
      body: { reportingExecutionId: childId, domainName: 'core', status: 'succeeded' },
    }),
    postFlowsInternalIdReconcileBuildCheck: ({ runId: id, childId }) => ({
      params: { id },
      body: { reportingExecutionId: childId, domainName: 'core', status: 'failed' },
    }),
    postFlowsInternalIdRenderValidationCheck: ({ runId: id }) => ({
      params: { id },
      body: {
        domainResults: [
          { domainName: 'core', status: 'succeeded' },
          { domainName: 'sales', status: 'failed' },
        ],
      },
    }),
    postFlowsInternalTrackLockRun: ({ runId }) => ({ body: { executionId: runId, lockKey: 'acme/shop/uat' } }),
    postFlowsInternalIdCallback: ({ childId: id }) => ({ params: { id }, body: { event: 'completed' } }),
  },
);
