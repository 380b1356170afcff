import type { TestApp } from './app.ts';
import type { Json } from './client.ts';

/** A project of the console's tests: environments in their order, and releases that went some of the way. */
export interface StagedProject {
  repositoryIdentifier: string;
  /** Ids of environments by name. */
  environments: Readonly<Record<string, string>>;
  /** Makes a candidate, and reports that it was deployed; returns its id. */
  release: (domain: string, releaseName: string, deployedTo?: readonly string[], more?: object) => Promise<string>;
  report: (domain: string, releaseName: string, environmentName: string, status?: string) => Promise<Json>;
}

/** Makes a project with environments, whose policies are given by name. */
export async function stageProject(
  app: TestApp,
  repositoryIdentifier: string,
  policies: Readonly<Record<string, object>>,
): Promise<StagedProject> {
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  const environments: Record<string, string> = {};
  for (const [orchestrationOrder, [name, more]] of Object.entries(policies).entries()) {
    const body = { repositoryIdentifier, name, category: 'release', orchestrationOrder, ...more };
    environments[name] = (await owner.post(201, '/api/environments', body)).id;
  }
  const report: StagedProject['report'] = (domain, releaseName, environmentName, deploymentStatus = 'Success') =>
    app.as(app.application).post(202, '/api/release-candidates/release-event', {
      repositoryIdentifier,
      domain,
      releaseName,
      environmentName,
      deploymentStatus,
    });
  return {
    repositoryIdentifier,
    environments,
    report,
    async release(domain, releaseName, deployedTo = [], more = {}) {
      const { id } = await owner.post(201, '/api/release-candidates', {
        repositoryIdentifier,
        domain,
        releaseName,
        commitSha: 'abcdef0123456789abcdef0123456789abcdef01',
        branch: 'main',
        value: { artifacts: { [`${domain}-app`]: '1.0.0' } },
        ...more,
      });
      for (const name of deployedTo) await report(domain, releaseName, name);
      return id;
    },
  };
}
