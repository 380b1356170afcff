import { createHash } from 'node:crypto';
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
    return { candidateId: candidate.id as string, releaseName, commitSha };
  },
  {
    postReleaseCandidates: ({ repositoryIdentifier, commitSha }) => ({
      body: {
        repositoryIdentifier,
        domain: 'core',
        releaseName: fresh('release'),
        commitSha,
        value: { artifacts: {} },
      },
    }),
    getReleaseCandidates: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
    getReleaseCandidatesBranches: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
    getReleaseCandidatesDomains: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
    getReleaseCandidatesLatest: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier, domain: 'core' } }),
    getReleaseCandidatesByCommitCommitSha: ({ repositoryIdentifier, commitSha }) => ({
      params: { commitSha },
      query: { repositoryIdentifier },
    }),
    postReleaseCandidatesFind: (fixtures) => ({ body: nameOf(fixtures) }),
    getReleaseCandidatesId: ({ candidateId: id }) => ({ params: { id } }),
    deleteReleaseCandidatesId: ({ candidateId: id }) => ({ params: { id } }),
    deleteReleaseCandidatesByBranchBranchName: ({ repositoryIdentifier }) => ({
      params: { branchName: 'release/1' },
      query: { repositoryIdentifier },
    }),
    patchReleaseCandidatesIdStatus: ({ candidateId: id }) => ({ params: { id }, body: { status: 'in_progress' } }),
    patchReleaseCandidatesStatusByName: (fixtures) => ({ body: { ...nameOf(fixtures), status: 'in_progress' } }),
    postReleaseCandidatesAbort: (fixtures) => ({ body: nameOf(fixtures) }),
    patchReleaseCandidatesUpdatePackages: (fixtures) => ({
      body: { ...nameOf(fixtures), versionOverrides: { app: '1.2.4' } },
    }),
    postReleaseCandidatesIdCompare: ({ candidateId: id }) => ({ params: { id }, body: { environmentName: 'uat' } }),
    postReleaseCandidatesIdCompareToPackages: ({ candidateId: id }) => ({
      params: { id },
      body: { packages: { app: '1.0.0' } },
    }),
    getReleaseCandidatesIdChanges: ({ candidateId: id }) => ({ params: { id } }),
    getReleaseCandidatesRollingAnalysisRepositoryDomain: ({ repositoryIdentifier: repository }) => ({
      params: { repository, domain: 'core' },
    }),
    postReleaseCandidatesReleaseEvent: (fixtures) => ({
      body: { ...nameOf(fixtures), environmentName: 'uat', deploymentStatus: 'success', executionId: fresh('run') },
    }),
  },
);

const nameOf = ({ repositoryIdentifier, releaseName }: { repositoryIdentifier: string; releaseName: string }) => ({
  repositoryIdentifier,
  domain: 'core',
  releaseName,
});
