import type { TestApp } from './app.ts';
import type { Json } from './client.ts';
import { releaseStage } from './release-stage.ts';
import { success } from './releases.ts';

const MINUTE = 60_000;
export const ago = (minutes: number): string => new Date(Date.now() - minutes * MINUTE).toISOString();
export const COMMIT = 'a'.repeat(40);
export const OTHER_COMMIT = 'b'.repeat(40);

/** Two release environments, and releases of them as their list shows them. */
export async function deployedStage(app: TestApp) {
  const base = await releaseStage(app, { autoReleaseFinalization: true });
  const { repositoryIdentifier } = base.project;
  const pipeline = app.as(app.application);
  return {
    ...base,
    repositoryIdentifier,
    post: (releaseName: string, commitSha: string, artifacts: object, more = {}, status = 201): Promise<Json> =>
      pipeline.post(status, '/api/release-candidates', {
        repositoryIdentifier,
        domain: 'core',
        releaseName,
        commitSha,
        value: { artifacts },
        ...more,
      }),
    preview: (releaseName: string, environmentName: string, more: object = {}, status = 200): Promise<Json> =>
      pipeline.post(
        status,
        '/api/release-candidates/release-event?dryRun=true',
        success(repositoryIdentifier, releaseName, environmentName, more),
      ),
    release: async (name: string): Promise<Json> =>
      (await base.get('/api/releases', { activeOnly: 'false', releaseName: name })).releases[0],
    active: async (): Promise<string[]> =>
      (await base.get('/api/releases')).releases.map((each: Json) => each.name).toSorted(),
    compare: (id: string, environmentName: string): Promise<Json> =>
      pipeline.post(200, `/api/release-candidates/${id}/compare`, { environmentName }),
    rollBack: (target: string, rolledBackFrom: string): Promise<Json> =>
      pipeline.post(204, '/api/releases/rollback-annotation', {
        repositoryIdentifier,
        environment: 'uat',
        target,
        rolledBackFrom,
        rolledBackBy: 'dana@example.com',
      }),
  };
}

/** What a release of the list came to in an environment. */
export const recordIn = ({ environments }: Json, name: string): Json =>
  environments.find((each: Json) => each.name === name);
