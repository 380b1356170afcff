import { featureExamples } from './example.ts';

const taskType = 'install-packages';
const callback = { platform: 'host-a', workItemKey: '4711', taskType, executionId: 'job-118' };

export const workItemRequestsExamples = featureExamples(
  async (app, { repositoryIdentifier: projectIdentifier }) => {
    const owner = app.as(app.owner);
    await owner.post(204, '/api/work-items/requests/callback', { event: 'started', projectIdentifier, ...callback });
    const { items } = await owner.get(
      200,
      `/api/work-items/requests?${new URLSearchParams({ projectIdentifier, taskType })}`,
    );
    return { workItemRequestId: items[0].id };
  },
  {
    reportWorkItemRequest: ({ repositoryIdentifier: projectIdentifier }) => ({
      body: { event: 'completed', projectIdentifier, ...callback, result: { installed: ['core-objects@1.4.0-7'] } },
    }),
    listWorkItemRequests: ({ repositoryIdentifier: projectIdentifier }) => ({
      query: { projectIdentifier, status: 'in_progress,completed', platform: 'host-a' },
    }),
    getWorkItemRequest: ({ workItemRequestId }) => ({ params: { id: workItemRequestId } }),
  },
);
