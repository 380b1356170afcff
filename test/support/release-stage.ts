import type { TestApp } from './app.ts';
import type { Json } from './client.ts';
import { mirrored, type MirroredProject } from './mirrored.ts';
import { success } from './releases.ts';
import { newRepository, type TestRepository } from './repository.ts';

export interface ReleaseStage {
  remote: TestRepository;
  project: MirroredProject;
  /** A commit that touches packages, a candidate of it and its id. */
  cut: (
    releaseName: string,
    versions: Record<string, string>,
    more?: { message?: string; branch?: string; domain?: string },
  ) => Promise<Json>;
  deploy: (releaseName: string, environmentName: string, more?: object) => Promise<Json>;
  get: (path: string, query?: object) => Promise<Json>;
  query: (query: object) => string;
}

const CONFIGURATION = { packagePaths: { app: 'app', lib: 'lib' }, workItems: { workItemFilters: ['SHOP-\\d+'] } };

/**
 * Releases of two packages through uat and prod, each with a commit of its own; workers of `git-v1` and `releases-v1`
 * must run.
 */
export async function releaseStage(app: TestApp, configuration: object = {}): Promise<ReleaseStage> {
  const remote = newRepository();
  remote.commit({ files: { 'app/a': '0', 'lib/a': '0' } });
  const project = await mirrored(app, remote, { configuration: { ...CONFIGURATION, ...configuration } });
  const { repositoryIdentifier } = project;
  const pipeline = app.as(app.application);
  for (const [orchestrationOrder, name] of ['uat', 'prod'].entries()) {
    await app
      .as(app.owner)
      .post(201, '/api/environments', { repositoryIdentifier, name, category: 'release', orchestrationOrder });
  }
  const query = (more: object) => new URLSearchParams({ repositoryIdentifier, ...more }).toString();
  return {
    remote,
    project,
    query,
    async cut(
      releaseName,
      artifacts,
      { message = `SHOP-${releaseName.length}: ${releaseName}`, branch, domain = 'core' } = {},
    ) {
      const files = Object.fromEntries(Object.entries(artifacts).map(([name, version]) => [`${name}/a`, version]));
      const commitSha = remote.commit({ message, files });
      await project.fetch();
      return pipeline.post(201, '/api/release-candidates', {
        repositoryIdentifier,
        domain,
        releaseName,
        commitSha,
        ...(branch && { branch }),
        value: { artifacts },
      });
    },
    deploy: (releaseName, environmentName, more = {}) =>
      pipeline.post(
        200,
        '/api/release-candidates/release-event',
        success(repositoryIdentifier, releaseName, environmentName, more),
      ),
    get: (path, more = {}) => app.as(app.member).get(200, `${path}?${query(more)}`),
  };
}
