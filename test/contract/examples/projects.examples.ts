import { featureExamples, fresh } from './example.ts';

export const projectsExamples = featureExamples(
  async (app) => {
    const mirrored = `acme/${fresh('mirrored')}`;
    await app.as(app.owner).post(201, '/api/projects', {
      identifier: mirrored,
      platform: 'host-a',
      remoteUrl: 'https://git.example.com/acme/shop.git',
    });
    return { mirrored };
  },
  {
    createProject: () => ({ body: { identifier: `acme/${fresh('made')}`, platform: 'host-b' } }),
    listProjects: () => ({}),
    getProject: ({ repositoryIdentifier: identifier }) => ({ params: { identifier } }),
    updateProject: ({ repositoryIdentifier: identifier }) => ({
      params: { identifier },
      body: { defaultBranch: 'trunk' },
    }),
    deleteProject: ({ repositoryIdentifier: identifier }) => ({ params: { identifier } }),
    getProjectMirror: ({ mirrored: identifier }) => ({ params: { identifier } }),
    fetchProjectMirror: ({ mirrored: identifier }) => ({ params: { identifier } }),

    createEnvironment: ({ repositoryIdentifier }) => ({
      body: { repositoryIdentifier, name: fresh('environment'), category: 'dev' },
    }),
    listEnvironments: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
    getEnvironment: ({ environmentId: id }) => ({ params: { id } }),
    getEnvironmentTimeline: ({ environmentId: id }) => ({ params: { id } }),
    updateEnvironment: ({ environmentId: id }) => ({ params: { id }, body: { description: 'changed' } }),
    deleteEnvironment: ({ environmentId: id }) => ({ params: { id } }),
  },
);
