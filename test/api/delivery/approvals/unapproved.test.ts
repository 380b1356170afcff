import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { insertApproval, insertRun, insertWebhook } from '../../../support/factories.ts';
import { idleEngine } from '../../../support/launch.ts';
import { cutRelease, success } from '../../../support/releases.ts';

const repositoryIdentifier = 'acme/shop';
let app: TestApp;
let runId: string;
let environmentId: string;

/** One that was given for production. */
const approval = (releaseName: string, resolvedAt: Date) => ({
  repositoryIdentifier,
  domain: 'core',
  releaseName,
  environmentId,
  environmentName: 'prod',
  status: 'approved' as const,
  resolvedBy: app.owner.email,
  resolvedAt,
});

const deployed = (releaseName: string, environmentName: string, more: object = {}): Promise<Json> =>
  app
    .as(app.application)
    .post(
      202,
      '/api/release-candidates/release-event',
      success(repositoryIdentifier, releaseName, environmentName, more),
    );

beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  for (const [name, category] of [
    ['prod', 'release'],
    ['dev', 'dev'],
  ])
    await owner.post(201, '/api/environments', { repositoryIdentifier, name, category });
  const [prod] = await app.sql<{ id: string }>(`select id from environment where name = 'prod'`);
  for (const name of ['approved', 'late', 'elsewhere', 'never', 'again'])
    await cutRelease(app, repositoryIdentifier, name);
  environmentId = prod?.id ?? '';
  const run = { repositoryIdentifier, requestedBy: app.member.email, domain: 'core', environmentId };
  runId = await insertRun(app, { ...run, releaseName: 'never', status: 'running', displayStatus: 'Running' });
  for (const [name, at] of [
    ['approved', Date.now() - 60_000],
    ['late', Date.now() + 3_600_000],
  ] as const)
    await insertApproval(
      app,
      { runId: await insertRun(app, { ...run, releaseName: name }), ...approval(name, new Date(at)) },
      { domain: 'core', releaseName: name, environmentName: 'prod', occurredAt: '2026-01-01T00:00:00Z' },
    );
  await deployed('approved', 'prod', { deployedAt: '2026-02-01T00:00:00Z' });
  await deployed('approved', 'prod', { deployedAt: '2026-02-01T12:00:00Z', executionId: 'second' });
  await deployed('late', 'prod', { deployedAt: '2026-02-02T00:00:00Z', deploymentStatus: 'Failed' });
  await deployed('elsewhere', 'prod', { deployedAt: '2026-02-03T00:00:00Z', approval: { status: 'approved' } });
  await deployed('never', 'prod', { deployedAt: '2026-02-04T00:00:00Z', executionId: runId });
  await deployed('again', 'prod', { deployedAt: '2026-02-05T00:00:00Z', executionId: 'pipeline-7' });
  await deployed('again', 'prod', { deployedAt: '2026-02-06T00:00:00Z', deploymentStatus: 'Cancelled' });
  await deployed('again', 'dev', { deployedAt: '2026-02-07T00:00:00Z' });
  await app.sql(
    `update flow_run set override = '{"reason":"outage","by":"o@x.example","at":"2026-02-01T00:00:00.000Z"}' where id = ?`,
    [runId],
  );
});
afterAll(() => app.close());

const path = (query: string) => `/api/flows/approvals/compliance?repositoryIdentifier=${repositoryIdentifier}${query}`;
const report = (query: string): Promise<Json> => app.as(app.member).get(200, path(query));
const shown = async (query: string): Promise<string[]> =>
  (await report(query)).items.map(({ status, releaseName }: Json) => `${releaseName} ${status}`);

const UNAPPROVED = ['again', 'never', 'late', 'approved'].map((name) => `${name} not_requested`);
const REPORTED = UNAPPROVED.filter((row) => !row.startsWith('never'));
const STEPS = ['late approved', 'approved approved'];

test('deployments to release environments that nobody approved are rows of their own, on request', async () => {
  expect(await shown('')).toEqual(STEPS);
  const { items, total } = await report('&includeUnapproved=true');
  expect(items.map(({ status, releaseName }: Json) => `${releaseName} ${status}`)).toEqual([...UNAPPROVED, ...STEPS]);
  expect(total).toBe(6);
  expect(items[0]).toEqual({
    id: expect.any(String),
    approvalId: null,
    executionId: 'pipeline-7',
    taskType: 'release-event',
    repositoryIdentifier,
    environment: 'prod',
    domain: 'core',
    releaseName: 'again',
    status: 'not_requested',
    requestedBy: 'app:ci',
    requestedAt: '2026-02-05T00:00:00.000Z',
    resolvedBy: null,
    resolvedAt: null,
    responseTimeMs: null,
    approvers: [],
    comment: null,
    source: 'report',
    override: null,
    policyViolations: [],
  });
  expect(items[1]).toMatchObject({
    executionId: runId,
    taskType: 'execute-release',
    requestedBy: app.member.email,
    source: 'run',
    override: { reason: 'outage', by: 'o@x.example' },
  });
});

test.each([
  ['&includeUnapproved=true&limit=2&offset=2', ['late not_requested', 'approved not_requested']],
  ['&includeUnapproved=true&status=approved', STEPS],
  ['&status=not_requested', UNAPPROVED],
  ['&includeUnapproved=true&taskType=release-event', REPORTED],
  ['&includeUnapproved=true&requestedBy=APP:ci', REPORTED],
  ['&includeUnapproved=true&resolvedBy=owner@acme.example', STEPS],
  ['&includeUnapproved=true&from=2026-02-03&to=2026-02-05', ['never not_requested']],
  ['&includeUnapproved=true&environment=dev', []],
])('the filter %s', async (query, expected) => expect(await shown(query)).toEqual(expected));

test('the CSV has them, too', async () => {
  const { text } = await app.as(app.owner).request(200, 'GET', path('&format=csv&includeUnapproved=true'));
  const lines = text.trimEnd().split('\r\n');
  expect(lines).toHaveLength(7);
  expect(lines[2]).toMatch(/,not_requested,.*,run,o@x.example: outage,$/);
});

test('an approval counts for its own run, and for the first deployment of its content that is reported after it', async () => {
  const releaseName = 'counted';
  const own = { repositoryIdentifier, domain: 'core', environmentId, releaseName, requestedBy: app.member.email };
  await cutRelease(app, repositoryIdentifier, releaseName);
  const approvedRun = await insertRun(app, own);
  const otherRun = await insertRun(app, own);
  const approve = (id: string, at: number) =>
    insertApproval(
      app,
      { ...approval(releaseName, new Date(at)), runId: id },
      { domain: 'core', releaseName, environmentName: 'prod' },
    );
  const since = '2026-03-01T00:00:00Z';
  const deploy = (executionId: string) => deployed(releaseName, 'prod', { executionId, deployedAt: since });
  const unapproved = async () =>
    (await report(`&status=not_requested&from=${since}`)).items.map(({ executionId }: Json) => executionId).toSorted();
  await approve(approvedRun, Date.now() - 1_000);
  for (const executionId of ['first', otherRun, approvedRun, 'second']) await deploy(executionId);
  const lacking = ['second', otherRun].toSorted();
  expect(await unapproved()).toEqual(lacking);
  await approve(await insertRun(app, own), Date.now());
  await deploy('third');
  expect(await unapproved()).toEqual(lacking);
  // Other content begins anew.
  await cutRelease(app, repositoryIdentifier, releaseName, { commitSha: 'b'.repeat(40) });
  await deploy('fourth');
  expect(await unapproved()).toHaveLength(2);
});

/** What its environment says that runs there broke. */
const environmentNow = async (name: string): Promise<Json> => {
  const member = app.as(app.member);
  const listed: Json[] = await member.get(200, `/api/environments?repositoryIdentifier=${repositoryIdentifier}`);
  const own = listed.find((each) => each.name === name);
  expect(own).toMatchObject({
    policyViolations: (await member.get(200, `/api/environments/${own?.id}`)).policyViolations,
  });
  return own?.policyViolations;
};
const compare = (id: string): Promise<Json> =>
  app.as(app.member).post(200, `/api/release-candidates/${id}/compare`, { environmentName: 'live' });

test('a report that breaks policies is recorded, and says so in the reply, on all that shows it, in the event and on the report', async () => {
  const owner = app.as(app.owner);
  const freeze = { from: '2026-04-01T00:00:00Z', to: '2026-05-01T00:00:00Z', reason: 'quarter end' };
  const asks = { approvalPolicy: {}, promotion: { after: ['dev'], freezes: [freeze] } };
  await owner.post(201, '/api/environments', { repositoryIdentifier, name: 'live', category: 'release', ...asks });
  await insertWebhook(app, { event: 'deployment.completed' });
  const { id: candidateId } = await cutRelease(app, repositoryIdentifier, 'broken');
  const codes = (some: Json[]): string[] => some.map(({ code }) => code);
  const deployedAt = '2026-04-07T00:00:00Z';
  const reported = await deployed('broken', 'live', { deployedAt, executionId: 'frozen' });
  const all = ['frozen', 'not_deployed_before', 'not_approved'];
  expect(codes(reported.policyViolations)).toEqual(all);
  expect(reported.policyViolations[0].detail).toMatch(/^live is frozen .*: quarter end$/);
  expect(reported.warnings.map(({ code, pointer }: Json) => [code, pointer])).toEqual(
    all.map((_, index) => ['policy_violation', `#/policyViolations/${index}`]),
  );
  const again = await deployed('broken', 'live', { deployedAt: '2026-04-08T00:00:00Z', executionId: 'frozen' });
  expect(again.policyViolations).toEqual(reported.policyViolations);
  const event = success(repositoryIdentifier, 'broken', 'live', { deployedAt });
  const dry = await app.as(app.application).post(200, '/api/release-candidates/release-event?dryRun=true', event);
  expect(codes(dry.policyViolations)).toEqual(all);

  const { releases } = await app
    .as(app.member)
    .get(200, `/api/releases?repositoryIdentifier=${repositoryIdentifier}&releaseName=broken`);
  expect(releases[0].environments[0].policyViolations).toEqual(reported.policyViolations);
  const [sent] = await app.sql<{ payload: Json }>(
    `select payload from webhook_delivery where event = 'deployment.completed'`,
  );
  expect(JSON.stringify(sent?.payload)).toContain(JSON.stringify(reported.policyViolations).slice(1, -1));

  const running = reported.policyViolations.map((each: Json) => ({ ...each, domain: 'core', releaseName: 'broken' }));
  expect(await environmentNow('live')).toEqual(running);
  expect(await environmentNow('dev')).toEqual([]);
  const compared = await compare(candidateId);
  expect(compared.policyViolations).toEqual(reported.policyViolations);
  expect(compared.environment.policyViolations).toEqual(running);

  await deployed('broken', 'dev', { deployedAt: '2026-05-02T00:00:00Z' });
  const approved = { approval: { status: 'approved' } };
  const late = await deployed('broken', 'live', { deployedAt: '2026-04-09T00:00:00Z', ...approved });
  expect(codes(late.policyViolations)).toEqual(['frozen']);
  expect((await deployed('broken', 'live', { deployedAt: '2026-05-03T00:00:00Z', ...approved })).warnings).toEqual([]);
  expect(await environmentNow('live')).toEqual([]);
  expect((await compare(candidateId)).policyViolations).toEqual([]);
  const cancelled = { deployedAt: '2026-04-10T00:00:00Z', deploymentStatus: 'Cancelled' };
  expect((await deployed('broken', 'live', cancelled)).policyViolations).toEqual([]);
  const rows = async (query: string) =>
    (await report(`&environment=live${query}`)).items.map((row: Json) => [row.status, codes(row.policyViolations)]);
  expect(await rows('&includeUnapproved=true')).toEqual([
    ['policy_violated', ['frozen']],
    ['not_requested', all],
  ]);
  expect(await rows('&status=policy_violated')).toEqual([['policy_violated', ['frozen']]]);
  expect(await rows('&status=not_requested')).toEqual([['not_requested', all]]);
});
