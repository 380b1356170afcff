import { addSimulatedOrg } from './crm-orgs.examples.ts';
import { featureExamples, fresh } from './example.ts';

export const orgLimitsExamples = featureExamples(
  async (app, { repositoryIdentifier }) => {
    const owner = app.as(app.owner);
    const org = await addSimulatedOrg(app, { name: fresh('acme'), kind: 'production' });
    org.limits = {
      DailyApiRequests: { max: 100_000, used: 18_250 },
      DataStorageMB: { max: 10_240, used: 9_300 },
    };
    const environmentName = fresh('uat');
    await owner.post(201, '/api/environments', {
      repositoryIdentifier,
      name: environmentName,
      category: 'test',
      orgUsername: org.username,
    });
    await owner.post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
    const poll = new URLSearchParams({ org: org.username, range: 'today', forceRefresh: 'true' });
    await owner.get(200, `/api/observability/limits/dashboard?${poll}`);
    return { environmentName, orgUsername: org.username };
  },
  {
    getOrgLimitSummary: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
    getOrgLimitDashboard: ({ environmentName, repositoryIdentifier }) => ({
      query: { environmentName, repositoryIdentifier, range: 'last_7_days' },
    }),
    getOrgLimitSnapshot: ({ environmentName, repositoryIdentifier }) => ({
      query: { environmentName, repositoryIdentifier },
    }),
  },
);
