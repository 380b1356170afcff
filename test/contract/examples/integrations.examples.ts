import { featureExamples } from './example.ts';

const credentials = { type: 'token', token: 'a token of an external system' };

export const integrationsExamples = featureExamples(
  async (app, { repositoryIdentifier }) => {
    const body = { kind: 'tracker-a', name: 'Tracker', repositoryIdentifier, credentials };
    const { id } = await app.as(app.owner).post(201, '/api/integrations', body);
    return { integrationId: id as string };
  },
  {
    postIntegrations: ({ repositoryIdentifier }) => ({
      body: { kind: 'host-a', name: 'Host', repositoryIdentifier, credentials },
    }),
    getIntegrations: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
    getIntegrationsId: ({ integrationId: id }) => ({ params: { id } }),
    patchIntegrationsId: ({ integrationId: id }) => ({ params: { id }, body: { isActive: false } }),
    deleteIntegrationsId: ({ integrationId: id }) => ({ params: { id } }),
  },
);
