import { gitHost, hostCredentials } from '../../simulators/git-hosts.ts';
import { featureExamples, fresh } from './example.ts';

export const workItemsExamples = featureExamples(
  async (app) => {
    const host = await gitHost('host-a');
    app.server.once('close', () => void host.close());
    const owner = app.as(app.owner);
    const tracked = `acme/${fresh('tracked')}`;
    await owner.post(201, '/api/projects', { identifier: tracked, platform: 'host-a' });
    await owner.post(201, '/api/integrations', {
      kind: 'host-a',
      name: 'Git host',
      repositoryIdentifier: tracked,
      baseUrl: host.url,
      credentials: hostCredentials,
    });
    const createdAt = new Date('2026-03-02T09:30:00Z');
    const labels = ['bug', 'priority:high'];
    const issue = { body: 'Seen in UAT.', labels, assignees: ['dana'], createdAt, updatedAt: createdAt };
    host.issues.add(tracked, { ...issue, number: 411, title: 'Checkout rounds the tariff twice' });
    host.issues.add(tracked, { ...issue, number: 412, title: 'The price list is empty after a refresh' });
    return { tracked };
  },
  {
    listWorkItems: ({ tracked }) => ({ query: { projectIdentifier: tracked, status: 'open', type: 'bug' } }),
    getWorkItem: ({ tracked }) => ({
      params: { id: '411' },
      query: { projectIdentifier: tracked },
      strangersStatus: 400,
    }),
    updateWorkItem: ({ tracked }) => ({
      params: { platform: 'host-a', id: '411' },
      body: { projectIdentifier: tracked, labels: ['bug', 'P1'], assignees: ['dana'] },
      strangersStatus: 400,
    }),
    closeWorkItem: ({ tracked }) => ({
      params: { platform: 'host-a', id: '412' },
      body: { projectIdentifier: tracked, comment: 'Released with 2026.11.', reason: 'completed' },
      strangersStatus: 400,
    }),
  },
);
