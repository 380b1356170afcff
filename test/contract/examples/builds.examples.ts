import { buildHook, sent } from '../../simulators/host-hooks.ts';
import { insertCommits } from '../../support/factories.ts';
import { featureExamples, fresh } from './example.ts';

export const buildsExamples = featureExamples(
  async (app) => {
    const owner = app.as(app.owner);
    const built = `acme/${fresh('built')}`;
    const { id } = await owner.post(201, '/api/projects', {
      identifier: built,
      platform: 'host-a',
      configuration: { domains: ['core'] },
    });
    const [commitId = ''] = await insertCommits(app, id);
    const query = new URLSearchParams({ repositoryIdentifier: built, branchName: 'main', commitId });
    const { impact } = await owner.get(200, `/api/builds/preview?${query}`);
    const { secret } = await owner.post(201, `/api/projects/${encodeURIComponent(built)}/hook-secret`);
    return { built, commitId, previewKey: impact.previewKey as string, hookSecret: secret as string };
  },
  {
    listBuilds: ({ built }) => ({ query: { repositoryIdentifier: built, domain: 'core' } }),
    listBuildBranches: ({ built }) => ({ query: { repositoryIdentifier: built } }),
    listBuildCommits: ({ built }) => ({ query: { repositoryIdentifier: built, branch: 'main' } }),
    previewBuild: ({ built, commitId }) => ({
      query: { repositoryIdentifier: built, branchName: 'main', commitId, forceBuildDomains: 'core', debug: 'true' },
    }),
    getBuildImpact: ({ built, previewKey }) => ({ query: { repositoryIdentifier: built, previewKey } }),
    publishBuildImpact: ({ built, previewKey }) => ({
      body: {
        repositoryIdentifier: built,
        previewKey,
        generation: 1,
        status: 'available',
        impactedDomains: [{ domainName: 'core', impactedPackages: ['app'] }],
        computedAt: '2026-03-02T09:30:00Z',
      },
    }),
    startBuild: ({ built, commitId }) => ({ body: { repositoryIdentifier: built, branchName: 'main', commitId } }),
    receiveHook: ({ built, commitId, hookSecret }) => {
      const hook = buildHook('host-a', { repository: built, commitId, outcome: 'running' });
      return { params: { host: 'host-a' }, body: hook.body, headers: sent(hook, hookSecret).headers };
    },
    rotateHookSecret: ({ built }) => ({ params: { identifier: built } }),
  },
);
