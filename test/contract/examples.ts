import { createHash } from 'node:crypto';
import { operationId } from '../../api/http/openapi.ts';
import { routes } from '../../api/routes.ts';
import type { AnyRoute } from '../../api/http/define-route.ts';
import type { TestApp } from '../support/app.ts';

/** Things of one tenant that exist before a route is tried, by the names that the examples use. */
export interface Fixtures {
  repositoryIdentifier: string;
  environmentId: string;
  applicationTokenId: string;
  candidateId: string;
  releaseName: string;
  commitSha: string;
  webhookId: string;
  deliveryId: string;
}

export interface Example {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  /** The reply that the example gets; the route's own status when absent. */
  status?: number;
}

/** Nothing is sent there: no worker runs in these tests. */
const RECEIVER = 'http://127.0.0.1:9/hook';

let made = 0;
/** A name that no other example has used. */
const fresh = (prefix: string) => `${prefix}-${++made}`;

/** Makes the fixtures in the tenant of the app's owner, through the API. */
export async function makeFixtures(app: TestApp): Promise<Fixtures> {
  const owner = app.as(app.owner);
  const repositoryIdentifier = `acme/${fresh('repository')}`;
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', configuration: { domains: ['core'] } });
  const environment = await owner.post(201, '/api/environments', { repositoryIdentifier, name: 'uat', category: 'release' });
  const token = await owner.post(201, '/api/application-tokens', { name: fresh('token') });
  const commitSha = createHash('sha1').update(repositoryIdentifier).digest('hex');
  const releaseName = fresh('release');
  const candidate = await owner.post(201, '/api/release-candidates', {
    repositoryIdentifier,
    domain: 'core',
    releaseName,
    commitSha,
    branch: 'release/1',
    value: { artifacts: { app: '1.2.3' } },
  });
  const webhook = await owner.post(201, '/api/webhooks', { name: fresh('webhook'), event: fresh('event'), config: { url: RECEIVER } });
  const delivery = await owner.post(202, `/api/webhooks/${webhook.id}/deliver`, { payload: {} });
  return {
    repositoryIdentifier,
    environmentId: environment.id,
    applicationTokenId: token.id,
    candidateId: candidate.id,
    releaseName,
    commitSha,
    webhookId: webhook.id,
    deliveryId: delivery.providerDetails.deliveryId,
  };
}

type ExampleOf = (fixtures: Fixtures) => Example;

/** A valid call of each route that needs a credential, by operation id. */
export const EXAMPLES: Record<string, ExampleOf> = {
  getUsersMe: () => ({}),

  postApplicationTokens: () => ({ body: { name: fresh('token') } }),
  getApplicationTokens: () => ({}),
  deleteApplicationTokensId: ({ applicationTokenId: id }) => ({ params: { id } }),

  postProjects: () => ({ body: { identifier: `acme/${fresh('made')}`, platform: 'host-b' } }),
  getProjects: () => ({}),
  getProjectsIdentifier: ({ repositoryIdentifier: identifier }) => ({ params: { identifier } }),
  patchProjectsIdentifier: ({ repositoryIdentifier: identifier }) => ({ params: { identifier }, body: { defaultBranch: 'trunk' } }),
  deleteProjectsIdentifier: ({ repositoryIdentifier: identifier }) => ({ params: { identifier } }),

  postEnvironments: ({ repositoryIdentifier }) => ({ body: { repositoryIdentifier, name: fresh('environment'), category: 'dev' } }),
  getEnvironments: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
  getEnvironmentsId: ({ environmentId: id }) => ({ params: { id } }),
  patchEnvironmentsId: ({ environmentId: id }) => ({ params: { id }, body: { description: 'changed' } }),
  deleteEnvironmentsId: ({ environmentId: id }) => ({ params: { id } }),

  postReleaseCandidates: ({ repositoryIdentifier, commitSha }) => ({
    body: { repositoryIdentifier, domain: 'core', releaseName: fresh('release'), commitSha, value: { artifacts: {} } },
  }),
  getReleaseCandidates: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
  getReleaseCandidatesBranches: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
  getReleaseCandidatesDomains: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
  getReleaseCandidatesLatest: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier, domain: 'core' } }),
  getReleaseCandidatesByCommitCommitSha: ({ repositoryIdentifier, commitSha }) => ({ params: { commitSha }, query: { repositoryIdentifier } }),
  postReleaseCandidatesFind: (fixtures) => ({ body: candidateName(fixtures) }),
  getReleaseCandidatesId: ({ candidateId: id }) => ({ params: { id } }),
  deleteReleaseCandidatesId: ({ candidateId: id }) => ({ params: { id } }),
  deleteReleaseCandidatesByBranchBranchName: ({ repositoryIdentifier }) => ({ params: { branchName: 'release/1' }, query: { repositoryIdentifier } }),
  patchReleaseCandidatesIdStatus: ({ candidateId: id }) => ({ params: { id }, body: { status: 'in_progress' } }),
  patchReleaseCandidatesStatusByName: (fixtures) => ({ body: { ...candidateName(fixtures), status: 'in_progress' } }),
  postReleaseCandidatesAbort: (fixtures) => ({ body: candidateName(fixtures) }),
  patchReleaseCandidatesUpdatePackages: (fixtures) => ({ body: { ...candidateName(fixtures), versionOverrides: { app: '1.2.4' } } }),
  postReleaseCandidatesIdCompare: ({ candidateId: id }) => ({ params: { id }, body: { environmentName: 'uat' } }),
  postReleaseCandidatesIdCompareToPackages: ({ candidateId: id }) => ({ params: { id }, body: { packages: { app: '1.0.0' } } }),
  // No worker runs in these tests: the event is stored and waits.
  postReleaseCandidatesReleaseEvent: (fixtures) => ({
    body: { ...candidateName(fixtures), environmentName: 'uat', deploymentStatus: 'success', executionId: fresh('run') },
    status: 202,
  }),

  postWebhooks: () => ({ body: { name: fresh('webhook'), event: 'release.published', config: { url: RECEIVER } } }),
  getWebhooks: () => ({}),
  getWebhooksEventCatalog: () => ({}),
  getWebhooksId: ({ webhookId: id }) => ({ params: { id } }),
  patchWebhooksId: ({ webhookId: id }) => ({ params: { id }, body: { timeout: 5_000 } }),
  deleteWebhooksId: ({ webhookId: id }) => ({ params: { id } }),
  postWebhooksIdRotateSecret: ({ webhookId: id }) => ({ params: { id } }),
  postWebhooksTrigger: () => ({ body: { event: 'push', payload: { ref: 'main' } } }),
  postWebhooksIdDeliver: ({ webhookId: id }) => ({ params: { id }, body: { payload: { ref: 'main' } } }),
  postWebhooksIdTest: ({ webhookId: id }) => ({ params: { id } }),
  getWebhooksIdDeliveries: ({ webhookId: id }) => ({ params: { id } }),
  getWebhooksIdDeliveriesDeliveryIdAttempts: ({ webhookId: id, deliveryId }) => ({ params: { id, deliveryId } }),
  postWebhooksIdDeliveriesDeliveryIdRedeliver: ({ webhookId: id, deliveryId }) => ({ params: { id, deliveryId } }),
  postWebhooksIdRecover: ({ webhookId: id }) => ({ params: { id }, body: { since: '2026-01-01T00:00:00Z' } }),
};

const candidateName = ({ repositoryIdentifier, releaseName }: Fixtures) => ({ repositoryIdentifier, domain: 'core', releaseName });

export const guardedRoutes = routes.filter((route) => route.roles !== 'public');

export const nameOf = (route: AnyRoute): string => `${route.method.toUpperCase()} ${route.path}`;

export function exampleOf(route: AnyRoute, fixtures: Fixtures): Example {
  const example = EXAMPLES[operationId(route)];
  if (!example) throw new Error(`test/contract/examples.ts lacks ${operationId(route)}`);
  return example(fixtures);
}

/** The address of a call: parameters filled in and encoded, the query appended. */
export function addressOf({ path }: AnyRoute, { params = {}, query }: Example): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? `missing-${name}`));
  return query ? `${filled}?${new URLSearchParams(query)}` : filled;
}
