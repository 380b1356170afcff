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
    postProjects: () => ({ body: { identifier: `acme/${fresh('made')}`, platform: 'host-b' } }),
    getProjects: () => ({}),
    getProjectsIdentifier: ({ repositoryIdentifier: identifier }) => ({ params: { identifier } }),
    patchProjectsIdentifier: ({ repositoryIdentifier: identifier }) => ({
      params: { identifier },
      body: { defaultBranch: 'trunk' },
    }),
    deleteProjectsIdentifier: ({ repositoryIdentifier: identifier }) => ({ params: { identifier } }),
    getProjectsIdentifierMirror: ({ mirrored: identifier }) => ({ params: { identifier } }),
    postProjectsIdentifierMirrorFetch: ({ mirrored: identifier }) => ({ params: { identifier } }),

    postEnvironments: ({ repositoryIdentifier }) => ({
      body: { repositoryIdentifier, name: fresh('environment'), category: 'dev' },
    }),
    getEnvironments: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
    getEnvironmentsId: ({ environmentId: id }) => ({ params: { id } }),
    patchEnvironmentsId: ({ environmentId: id }) => ({ params: { id }, body: { description: 'changed' } }),
    deleteEnvironmentsId: ({ environmentId: id }) => ({ params: { id } }),
  },
);
