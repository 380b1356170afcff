import type { TestApp } from './app.ts';
import type { Json } from './client.ts';

/** A pipeline's report that a release of the domain `core` was deployed to an environment. */
export const success = (
  repositoryIdentifier: string,
  releaseName: string,
  environmentName: string,
  more: object = {},
): object => ({
  repositoryIdentifier,
  domain: 'core',
  releaseName,
  environmentName,
  deploymentStatus: 'Success',
  ...more,
});

/** A release candidate of the domain `core` that can go to environments of every branch; the same again changes nothing. */
export const cutRelease = (
  app: TestApp,
  repositoryIdentifier: string,
  releaseName: string,
  more: object = {},
): Promise<Json> =>
  app.as(app.application).post(201, '/api/release-candidates', {
    repositoryIdentifier,
    domain: 'core',
    releaseName,
    commitSha: 'a'.repeat(40),
    value: { artifacts: { app: '1.0.0-1' } },
    ...more,
  });
