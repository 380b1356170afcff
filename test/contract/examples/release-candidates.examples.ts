import { createHash } from 'node:crypto';
import { success } from '../../support/releases.ts';
import { featureExamples, fresh } from './example.ts';

export const releaseCandidatesExamples = featureExamples(
  async (app, { repositoryIdentifier }) => {
    const commitSha = createHash('sha1').update(repositoryIdentifier).digest('hex');
    const releaseName = fresh('release');
    const candidate = await app.as(app.owner).post(201, '/api/release-candidates', {
      repositoryIdentifier,
      domain: 'core',
      releaseName,
      commitSha,
      branch: 'release/1',
      value: { artifacts: { app: '1.2.3' } },
    });
    const held = await app.as(app.owner).post(201, '/api/release-candidates', {
      repositoryIdentifier,
      domain: 'core',
      releaseName: fresh('held'),
      commitSha,
      value: { artifacts: {} },
    });
    await app.as(app.owner).post(201, '/api/environments', {
      repositoryIdentifier,
      name: 'verified',
      category: 'test',
      verification: { checks: [{ type: 'command', name: 'smoke test' }] },
    });
    await app.as(app.owner).send('POST', '/api/release-candidates/release-event', {
      body: success(repositoryIdentifier, releaseName, 'verified', { deploymentStatus: 'Partial' }),
    });
    return { candidateId: candidate.id as string, heldId: held.id as string, releaseName, commitSha };
  },
  {
    saveReleaseCandidate: ({ repositoryIdentifier, commitSha }) => ({
      body: {
        repositoryIdentifier,
        domain: 'core',
        releaseName: fresh('release'),
        commitSha,
        value: { artifacts: {} },
      },
    }),
    listReleaseCandidates: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
    listReleaseCandidateBranches: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
    listReleaseCandidateDomains: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
    getLatestReleaseCandidate: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier, domain: 'core' } }),
    getReleaseCandidatesByCommit: ({ repositoryIdentifier, commitSha }) => ({
      params: { commitSha },
      query: { repositoryIdentifier },
    }),
    findReleaseCandidate: (fixtures) => ({ body: nameOf(fixtures) }),
    getReleaseCandidate: ({ candidateId: id }) => ({ params: { id } }),
    getReleaseCandidateTimeline: ({ candidateId: id }) => ({ params: { id } }),
    deleteReleaseCandidate: ({ candidateId: id }) => ({ params: { id } }),
    deleteReleaseCandidatesByBranch: ({ repositoryIdentifier }) => ({
      params: { branchName: 'release/1' },
      query: { repositoryIdentifier },
    }),
    updateReleaseCandidateStatus: ({ candidateId: id }) => ({ params: { id }, body: { status: 'in_progress' } }),
    updateReleaseCandidateStatusByName: (fixtures) => ({ body: { ...nameOf(fixtures), status: 'in_progress' } }),
    abortReleaseCandidate: (fixtures) => ({ body: nameOf(fixtures) }),
    updateReleaseCandidatePackages: (fixtures) => ({
      body: { ...nameOf(fixtures), versionOverrides: { app: '1.2.4' } },
    }),
    compareReleaseCandidateToEnvironment: ({ candidateId: id }) => ({
      params: { id },
      body: { environmentName: 'uat' },
    }),
    compareReleaseCandidateToPackages: ({ candidateId: id }) => ({
      params: { id },
      body: { packages: { app: '1.0.0' } },
    }),
    holdReleaseCandidate: ({ heldId: id }) => ({ params: { id }, body: { reason: 'Waiting for the price list' } }),
    releaseHoldOfReleaseCandidate: ({ heldId: id }) => ({ params: { id } }),
    verifyReleaseCandidate: ({ candidateId: id }) => ({ params: { id }, body: { environmentName: 'verified' } }),
    getReleaseCandidateChanges: ({ candidateId: id }) => ({ params: { id } }),
    getRollingAnalysis: ({ repositoryIdentifier: repository }) => ({
      params: { repository, domain: 'core' },
    }),
    reportReleaseEvent: (fixtures) => ({
      body: { ...nameOf(fixtures), environmentName: 'uat', deploymentStatus: 'Success', executionId: fresh('run') },
    }),
  },
);

const nameOf = ({ repositoryIdentifier, releaseName }: { repositoryIdentifier: string; releaseName: string }) => ({
  repositoryIdentifier,
  domain: 'core',
  releaseName,
});
