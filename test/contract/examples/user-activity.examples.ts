import { sent } from '../../simulators/host-hooks.ts';
import { pullRequestHook } from '../../simulators/pull-request-hooks.ts';
import { fresh, featureExamples } from './example.ts';

export const userActivityExamples = featureExamples(
  async (app) => {
    const owner = app.as(app.owner);
    const reviewed = `acme/${fresh('reviewed')}`;
    await owner.post(201, '/api/projects', { identifier: reviewed, platform: 'host-a' });
    const { secret } = await owner.post(201, `/api/projects/${encodeURIComponent(reviewed)}/hook-secret`);
    const request = {
      repository: reviewed,
      number: 42,
      title: 'Round prices',
      author: 'dana',
      branch: 'feature/round',
    };
    const hook = pullRequestHook('host-a', { ...request, requested: ['erin'], labels: ['bug'] });
    const { path, headers, rawBody } = sent(hook, secret);
    await app.as().request(202, 'POST', path, { headers, rawBody });
    const { id: tokenId } = await owner.post(201, '/api/application-tokens', { name: fresh('short'), expiresIn: 5 });
    return { reviewed, tokenId: tokenId as string };
  },
  {
    listAttention: () => ({ query: { kinds: 'token_expiring', includeAcknowledged: 'true' } }),
    acknowledgeAttention: ({ tokenId }) => ({
      params: { id: `token_expiring:${tokenId}` },
      body: { comment: 'it is rotated next week' },
    }),
    streamChanges: () => ({ query: { topics: 'release_candidate,approval' } }),
    getUserActivity: ({ reviewed }) => ({ query: { repositoryIdentifier: reviewed, githubUsername: 'dana' } }),
  },
);
