import { gitHost } from '../../simulators/git-hosts.ts';
import { featureExamples, fresh } from './example.ts';

const taskType = 'install-packages';
const callback = { platform: 'host-a', workItemKey: '4711', taskType, executionId: 'job-118' };

export const workItemRequestsExamples = featureExamples(
  async (app, { repositoryIdentifier: projectIdentifier }) => {
    const owner = app.as(app.owner);
    const host = await gitHost('host-a');
    app.server.once('close', () => void host.close());
    const requested = `acme/${fresh('requested')}`;
    await owner.post(201, '/api/projects', { identifier: requested, platform: 'host-a' });
    await owner.post(201, '/api/integrations', {
      kind: 'host-a',
      name: 'Git host',
      repositoryIdentifier: requested,
      baseUrl: host.url,
      credentials: { type: 'token', token: 'host-token' },
    });
    await owner.post(204, '/api/work-items/requests/callback', { event: 'started', projectIdentifier, ...callback });
    const { items } = await owner.get(
      200,
      `/api/work-items/requests?${new URLSearchParams({ projectIdentifier, taskType })}`,
    );
    return { requested, workItemRequestId: items[0].id };
  },
  {
    reportWorkItemRequest: ({ repositoryIdentifier: projectIdentifier }) => ({
      body: { event: 'completed', projectIdentifier, ...callback, result: { installed: ['core-objects@1.4.0-7'] } },
    }),
    createWorkItemWithPayload: ({ requested }) => ({
      body: {
        projectIdentifier: requested,
        title: 'Install core-objects in UAT',
        body: 'Please, before the demo at noon.',
        payload: {
          id: taskType,
          orgUsername: 'uat@acme.example.com',
          packages: { 'core-objects': '1.4.0-7' },
        },
        labels: ['automation'],
        authToken: 'token-of-dana',
      },
    }),
    listWorkItemRequests: ({ repositoryIdentifier: projectIdentifier }) => ({
      query: { projectIdentifier, status: 'in_progress,completed', platform: 'host-a' },
    }),
    getWorkItemRequest: ({ workItemRequestId }) => ({ params: { id: workItemRequestId } }),
  },
);
