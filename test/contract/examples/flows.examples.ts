import { featureExamples, fresh } from './example.ts';

/** No worker runs in these tests: runs stay as they are accepted. */
export const flowsExamples = featureExamples(
  async (app, { repositoryIdentifier }) => {
    const owner = app.as(app.owner);
    const start = async () =>
      (await owner.post(202, '/api/flows/run', { payload: { id: 'analyze', repositoryIdentifier } })).id as string;
    const register = (parentTaskExecutionId: string) =>
      app.as(app.application).post(201, '/api/flows/internal/register-child', {
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
    startFlowRun: ({ repositoryIdentifier }) => ({ body: { payload: { id: 'analyze', repositoryIdentifier } } }),
    listFlowRuns: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
    getFlowRun: ({ runId: id }) => ({ params: { id } }),
    // Nothing was printed yet: no worker executes it.
    getFlowRunOutput: ({ runId: id }) => ({ params: { id } }),
    listFlowRunTests: ({ runId: id }) => ({ params: { id }, query: { outcome: 'failed' } }),
    // It ran no tests.
    getFlowRunTestReport: ({ runId: id }) => ({ params: { id }, status: 404 }),
    listFlowRunCoverage: ({ runId: id }) => ({ params: { id } }),
    cancelFlowRun: ({ runId: id }) => ({ params: { id } }),
    rerunFlowRun: ({ endedRunId: id }) => ({ params: { id } }),
    listFlowTypes: () => ({}),
    getFlowHealth: () => ({}),

    createFlowSchedule: ({ repositoryIdentifier }) => ({
      body: {
        name: fresh('schedule'),
        cron: '*/5 1-4 * * MON-FRI',
        timezone: 'Europe/Berlin',
        payload: { id: 'analyze', repositoryIdentifier },
      },
    }),
    listFlowSchedules: () => ({}),
    updateFlowSchedule: ({ scheduleId: id }) => ({ params: { id }, body: { isPaused: true } }),
    deleteFlowSchedule: ({ scheduleId: id }) => ({ params: { id } }),

    registerChildRun: ({ runId, repositoryIdentifier }) => ({
      body: { parentTaskExecutionId: runId, taskType: 'build-domain', flowPath: fresh('path'), repositoryIdentifier },
    }),
    registerScheduledRun: ({ repositoryIdentifier }) => ({
      body: {
        hatchetRunId: fresh('run'),
        taskType: 'nightly-clean-up',
        flowPath: 'nightly',
        repositoryIdentifier,
        schedulePath: 'schedules/nightly',
      },
    }),
    updateRunMetadata: ({ runId: id }) => ({
      params: { id },
      body: { result: { packages: { app: '1.2.3' } } },
    }),
    reconcileRun: ({ runId: id, childId }) => ({
      params: { id },
      body: { reportingExecutionId: childId, domainName: 'core', status: 'succeeded' },
    }),
    reconcileBuild: ({ runId: id, childId }) => ({
      params: { id },
      body: { reportingExecutionId: childId, domainName: 'core', status: 'failed' },
    }),
    renderValidationCheck: ({ runId: id }) => ({
      params: { id },
      body: {
        domainResults: [
          { domainName: 'core', status: 'succeeded' },
          { domainName: 'sales', status: 'failed' },
        ],
      },
    }),
    trackRunLock: ({ runId }) => ({ body: { executionId: runId, lockKey: 'acme/shop/uat' } }),
    reportRunProgress: ({ childId: id }) => ({ params: { id }, body: { event: 'completed' } }),
  },
);
