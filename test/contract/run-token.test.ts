import { hashSecret, newRunToken } from '../../domain/kernel/encryption/secrets.ts';
import type { Json } from '../support/client.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { insertRun } from '../support/factories.ts';
import { engineAway } from '../support/launch.ts';
import { addressOf, type Examples, guardedRoutes, makeExamples, nameOf, optionsOf } from './examples.ts';
import { type PublishedReference, publishedReference } from './published-reference.ts';

let app: TestApp;
let examples: Examples;
let reference: PublishedReference;
/** A run that deploys r1 to uat, and the token of its command. */
let runId: string;
let token: string;
const repositoryIdentifier = 'acme/deployed';
const release = { repositoryIdentifier, domain: 'core', releaseName: 'r1' };

const tokenOf = async (id: string, expiresAt = new Date(Date.now() + 86_400_000)): Promise<string> => {
  const secret = newRunToken();
  await app.db
    .insertInto('run_token')
    .values({ tenantId: app.tenant.id, runId: id, tokenHash: hashSecret(secret), expiresAt })
    .execute();
  return secret;
};
const running = (more: object = {}): Promise<string> =>
  insertRun(app, {
    repositoryIdentifier,
    requestedBy: app.owner.email,
    hasWorkflow: true,
    status: 'running',
    displayStatus: 'Running',
    startedAt: new Date(),
    ...more,
  });

beforeAll(async () => {
  app = await testApp({ launch: engineAway, commands: ['analyze', 'build'] });
  examples = makeExamples(app);
  reference = await publishedReference(app.as());
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  const environments: Json[] = [];
  for (const name of ['uat', 'prod'])
    environments.push(await owner.post(201, '/api/environments', { repositoryIdentifier, name, category: 'release' }));
  for (const releaseName of ['r1', 'r2'])
    await owner.post(201, '/api/release-candidates', {
      ...release,
      releaseName,
      commitSha: 'a'.repeat(40),
      value: { artifacts: { app: '1.0.0' } },
    });
  runId = await running({ domain: 'core', releaseName: 'r1', environmentId: environments[0].id });
  token = await tokenOf(runId);
});
afterAll(() => app.close());

const trailLength = async () => {
  const [row] = await app.sql<{ entries: string }>('select count(*) as entries from audit_entry');
  return Number(row?.entries);
};

test.each(guardedRoutes.map((route) => [nameOf(route), route] as const))(
  '%s with the token of a run that it is not about: 403, and nothing changes',
  async (_, route) => {
    const example = await examples.of(route);
    const before = await trailLength();
    const reply = await app
      .as({ token })
      .request(403, route.method.toUpperCase(), addressOf(route, example), optionsOf(example));
    expect(reply.body.code).toBe('forbidden');
    expect(await trailLength()).toBe(before);
    expect(reference.violations(route, reply)).toEqual([]);
  },
);

const event = (more: object = {}) => ({
  ...release,
  environmentName: 'uat',
  deploymentStatus: 'Success',
  executionId: runId,
  ...more,
});

test('it reports the deployment of its run, in the name of the run', async () => {
  // The engine is away.
  await app.as({ token }).post(202, '/api/release-candidates/release-event', event());
  const { items } = await app.as(app.owner).get(200, `/api/audit?action=release.deployment_recorded&actor=${runId}`);
  expect(items).toMatchObject([{ actor: { type: 'run', id: runId, email: `run:${runId}` } }]);
});

test.each([
  ['project', { repositoryIdentifier: 'acme/other' }],
  ['domain', { domain: 'other' }],
  ['release', { releaseName: 'r2' }],
  ['environment', { environmentName: 'prod' }],
  ['executionId', { executionId: 'mine' }],
  ['executionId that is missing', { executionId: undefined }],
])('it reports no deployment of another %s', async (_, other) => {
  for (const path of ['/api/release-candidates/release-event', '/api/release-candidates/release-event?dryRun=true'])
    await app.as({ token }).post(403, path, event(other));
});

test('it reports the progress of its run, and of no other', async () => {
  const other = await running();
  await app.as({ token }).post(403, `/api/flows/internal/${other}/callback`, { event: 'completed' });
  await app.as({ token }).post(204, `/api/flows/internal/${runId}/callback`, { event: 'started' });
});

test('the token of a run without a project reports its progress', async () => {
  const id = await running({ projectId: null, taskType: 'analyze' });
  await app.as({ token: await tokenOf(id) }).post(204, `/api/flows/internal/${id}/callback`, { event: 'started' });
});

test('it signs nobody in, is no application token, and is not listed among them', async () => {
  const bearer = app.as({ token });
  await bearer.request(200, 'GET', '/api/auth/continue?action=frontDoorUrl&params=targetOrg:prod');
  await app.as().post(401, '/api/auth/callback', { access_token: token });
  const { items = [] } = await app.as(app.owner).get(200, '/api/application-tokens');
  expect(JSON.stringify(items)).not.toContain(runId);
});

test('it is refused once its run has ended, or it has expired', async () => {
  const callback = (id: string, status: number, secret: string) =>
    app.as({ token: secret }).post(status, `/api/flows/internal/${id}/callback`, { event: 'started' });
  const id = await running();
  const secret = await tokenOf(id);
  await callback(id, 204, secret);
  await app.sql(
    `update flow_run set status = 'succeeded', display_status = 'Completed', ended_at = now() where id = ?`,
    [id],
  );
  await callback(id, 401, secret);
  const late = await running();
  await callback(late, 401, await tokenOf(late, new Date(Date.now() - 1_000)));
});
