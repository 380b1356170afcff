import { featureExamples } from './example.ts';

const credentials = { type: 'token', token: 'a token of an external system' };

export const integrationsExamples = featureExamples(
  async (app, { repositoryIdentifier }) => {
    const body = { kind: 'tracker-a', name: 'Tracker', repositoryIdentifier, credentials };
    const { id } = await app.as(app.owner).post(201, '/api/integrations', body);
    return { integrationId: id as string };
  },
  {
    createIntegration: ({ repositoryIdentifier }) => ({
      body: { kind: 'host-a', name: 'Host', repositoryIdentifier, credentials },
    }),
    listIntegrations: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
    getIntegration: ({ integrationId: id }) => ({ params: { id } }),
    updateIntegration: ({ integrationId: id }) => ({ params: { id }, body: { isActive: false } }),
    deleteIntegration: ({ integrationId: id }) => ({ params: { id } }),
  },
);
