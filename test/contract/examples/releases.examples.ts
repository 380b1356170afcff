import { featureExamples, fresh } from './example.ts';

export const releasesExamples = featureExamples(
  async (app, { repositoryIdentifier }) => {
    let candidateId = '';
    const [target, rolledBackFrom] = [fresh('release'), fresh('release')];
    for (const [index, releaseName] of [target, rolledBackFrom].entries()) {
      const candidate = { repositoryIdentifier, domain: 'core', releaseName };
      const { id } = await app.as(app.owner).post(201, '/api/release-candidates', {
        ...candidate,
        commitSha: 'abcdef0',
        value: { artifacts: { app: `1.${index}.0` } },
      });
      candidateId = id;
      // 202 where no worker runs: the event is stored and waits.
      await app.as(app.owner).send('POST', '/api/release-candidates/release-event', {
        body: { ...candidate, environmentName: 'uat', deploymentStatus: 'success' },
      });
    }
    return { target, rolledBackFrom, candidateId };
  },
  {
    listReleases: ({ repositoryIdentifier }) => ({
      query: { repositoryIdentifier, includeChangelog: 'true', includeApprovals: 'true', skipLockStatus: 'false' },
    }),
    getReleaseMatrix: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier, environments: 'uat' } }),
    compareSides: ({ repositoryIdentifier, environmentId, candidateId }) => ({
      query: { repositoryIdentifier, left: `candidate:${candidateId}`, right: `environment:${environmentId}` },
    }),
    getRunningReleases: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
    getChangeSummary: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
    locateWorkItem: ({ repositoryIdentifier }) => ({
      params: { key: 'SHOP-1' },
      query: { repositoryIdentifier },
    }),
    getDeliveryMetrics: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
    backtestPolicy: ({ repositoryIdentifier: identifier }) => ({
      params: { identifier },
      body: {
        promotion: { after: ['uat'], soakMinutes: 60 },
        environments: ['uat'],
        from: new Date(Date.now() - 30 * 24 * 3_600_000).toISOString(),
        to: new Date().toISOString(),
      },
    }),
    getReleaseNotes: ({ repositoryIdentifier, target }) => ({
      params: { name: target },
      query: { repositoryIdentifier },
    }),
    annotateRollback: ({ repositoryIdentifier, target, rolledBackFrom }) => ({
      body: { repositoryIdentifier, environment: 'uat', target, rolledBackFrom, rolledBackBy: 'dana@example.com' },
    }),
  },
);
