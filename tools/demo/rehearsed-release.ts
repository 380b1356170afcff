import { randomBytes } from 'node:crypto';
import { OperatorError } from '../operator-error.ts';
import type { DemoClient } from './client.ts';
import type { Say } from './collaborate.ts';
import { waitFor } from './wait.ts';

const REACHED_MS = 60_000;
/** What the simulator takes of a person, and of the service. */
const TOKEN_OF_DANA = 'token-of-dana';
const TOKEN_OF_SERVICE = 'host-token';
const ENVIRONMENTS = [
  { name: 'uat', category: 'test' },
  { name: 'production', category: 'release' },
] as const;

/** A release that is run several times: the same projects, orgs and hosts each time. */
export interface RehearsedRelease {
  /** Address of the service. */
  url: string;
  repositoryIdentifier: string;
  suffix: string;
  /** Address of the git host. */
  hostUrl: string;
  production: { username: string; authUrl: string };
  sandbox: { username: string; name: string };
}

/**
 * A whole release: orgs are signed in to, an issue asks for an installation, a pipeline executes it, pull requests are
 * read, and a candidate goes to production. What it made is removed, so that it can be run again.
 */
export async function runRelease(api: DemoClient, release: RehearsedRelease, say: Say): Promise<void> {
  const { repositoryIdentifier, hostUrl, suffix } = release;
  await api.post('/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    defaultBranch: 'main',
    configuration: { domains: ['main'], autoReleaseFinalization: true },
  });
  const made: string[] = [`/api/projects/${encodeURIComponent(repositoryIdentifier)}`];
  try {
    const integration = await api.post('/api/integrations', {
      kind: 'host-a',
      name: `rehearsal ${suffix}`,
      repositoryIdentifier,
      baseUrl: hostUrl,
      credentials: { type: 'token', token: TOKEN_OF_SERVICE },
    });
    made.unshift(`/api/integrations/${integration.id as string}`);
    await registerOrgs(api, release, made, say);
    for (const [orchestrationOrder, environment] of ENVIRONMENTS.entries())
      await api.post('/api/environments', {
        repositoryIdentifier,
        orchestrationOrder,
        ...environment,
        orgUsername: environment.name === 'uat' ? release.sandbox.username : release.production.username,
        approvalPolicy: { allowSelfApproval: true },
      });
    await readLimits(api, release, say);
    await install(api, release, say);
    await publish(api, release, say);
  } finally {
    for (const path of made) await api.delete(path);
  }
}

async function registerOrgs(
  api: DemoClient,
  { production, sandbox }: RehearsedRelease,
  made: string[],
  say: Say,
): Promise<void> {
  const note = ({ username, health }: Record<string, unknown>) => {
    made.unshift(`/api/auth/crm/org?${new URLSearchParams({ username: username as string })}`);
    return `${username as string} ${(health as { status: string }).status}`;
  };
  const first = note(await api.post('/api/auth/crm/register', { cliAuthUrl: production.authUrl, isDevHub: true }));
  const second = note(
    await api.post('/api/auth/crm/register-sandbox-by-name', {
      sandboxName: sandbox.name,
      productionUsername: production.username,
    }),
  );
  say(`  orgs signed in to: ${first}, ${second}`);
}

async function readLimits(api: DemoClient, { production, sandbox }: RehearsedRelease, say: Say): Promise<void> {
  const found: string[] = [];
  for (const { username } of [production, sandbox]) {
    const query = new URLSearchParams({ org: username, range: 'last_7_days', forceRefresh: 'true' });
    const { snapshot } = await api.get(`/api/observability/limits/dashboard?${query}`);
    const daily = (snapshot as { name: string; used: number; max: number }[]).find(
      ({ name }) => name === 'DailyApiRequests',
    );
    found.push(`${daily?.used ?? '-'} of ${daily?.max ?? '-'}`);
  }
  say(`  calls of the day of the orgs: ${found.join(', ')}`);
}

/** An issue with a payload, the run that it asks for, its pipeline, and the issue closed. */
async function install(
  api: DemoClient,
  { url, repositoryIdentifier, suffix }: RehearsedRelease,
  say: Say,
): Promise<void> {
  const made = await api.post('/api/work-items/with-payload', {
    projectIdentifier: repositoryIdentifier,
    title: 'Install HarbourCore in UAT',
    body: 'The pricing team tests on Monday.',
    labels: ['automation'],
    authToken: TOKEN_OF_DANA,
    payload: {
      id: 'install-packages',
      repositoryIdentifier,
      environmentName: 'uat',
      packages: { HarbourCore: '1.4.0-7' },
      pipeline: { id: 'install.yml', ref: 'main' },
    },
    triggerFlow: true,
  });
  const run = (made.flowExecution as { id: string } | undefined)?.id;
  if (run === undefined) throw new OperatorError('No run was started.');
  const approval = await waitFor(
    async () =>
      ((await api.get('/api/flows/approvals')).items as { id: string; executionId: string }[]).find(
        ({ executionId }) => executionId === run,
      ),
    (found) => found !== undefined,
    REACHED_MS,
  );
  if (!approval) throw new OperatorError('No approval was asked for in time.');
  await api.post(`/api/flows/approvals/${approval.id}/approve`, { comment: 'for the release' });
  const started = await waitFor(
    () => api.get(`/api/flows/runs/${run}`),
    ({ cicdRunUrl, success }) => cicdRunUrl !== null || success !== null,
    REACHED_MS,
  );
  if (!started?.cicdRunUrl) throw new OperatorError(`The pipeline was not started: ${JSON.stringify(started)}`);
  const { id, token } = await api.post('/api/application-tokens', {
    name: `rehearsal-${suffix}`,
    projects: [repositoryIdentifier],
  });
  await fetch(`${url}/api/flows/internal/${run}/callback`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token as string}`, 'content-type': 'application/json' },
    body: JSON.stringify({ event: 'completed' }),
  });
  await api.delete(`/api/application-tokens/${id as string}`);
  const requestIs = (status: string) =>
    waitFor(
      () => api.get(`/api/work-items/requests/${made.id as string}`),
      (shown) => shown.status === status,
      REACHED_MS,
    );
  if (!(await requestIs('completed'))) throw new OperatorError('The request did not complete in time.');
  const { workItemKey } = await api.get(`/api/work-items/requests/${made.id as string}`);
  say(`  issue ${workItemKey as string}: approved, pipeline ${started.cicdRunUrl as string}, completed`);
}

/** A candidate that is deployed to all environments. */
async function publish(api: DemoClient, { repositoryIdentifier }: RehearsedRelease, say: Say): Promise<void> {
  const releaseName = `r${randomBytes(3).toString('hex')}`;
  const { id } = await api.post('/api/release-candidates', {
    repositoryIdentifier,
    domain: 'main',
    releaseName,
    commitSha: randomBytes(20).toString('hex'),
    value: { artifacts: { HarbourCore: '1.4.0-7' } },
  });
  const reached: string[] = [];
  for (const { name: environmentName } of ENVIRONMENTS) {
    const { newStatus } = await api.post('/api/release-candidates/release-event', {
      repositoryIdentifier,
      domain: 'main',
      releaseName,
      environmentName,
      deploymentStatus: 'Success',
      executionId: `${id as string}-${environmentName}`,
    });
    reached.push(`${environmentName} ${newStatus as string}`);
  }
  say(`  candidate ${releaseName}: ${reached.join(', ')}`);
}
