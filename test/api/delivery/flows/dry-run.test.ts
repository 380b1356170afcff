import { type TestApp, testApp } from '../../../support/app.ts';
import type { Bearer, Json } from '../../../support/client.ts';
import { insertWebhook } from '../../../support/factories.ts';
import { idleEngine } from '../../../support/launch.ts';
import { cutRelease, success } from '../../../support/releases.ts';

const repositoryIdentifier = 'acme/dry';
const HOUR_MS = 3_600_000;
const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();

let app: TestApp;
const environments: Record<string, string> = {};
beforeAll(async () => {
  app = await testApp({
    launch: idleEngine,
    commands: ['execute-release', 'rollback-release', 'install-packages', 'build'],
  });
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  for (const [name, more] of [
    ['open', { approvalPolicy: { skipApproval: true } }],
    ['asked', { approvalPolicy: { approvers: [app.member.email], minApprovals: 1, expiresAfter: 'PT2H' } }],
    ['by-member', { approvalPolicy: { approvers: [app.owner.email] } }],
    ['frozen', { promotion: { freezes: [{ from: inHours(-1), to: inHours(3), reason: 'year end' }] } }],
    ['after', { promotion: { after: ['open'] } }],
    ['hotfix', { branch: 'hotfix/*' }],
  ] as const) {
    const environment = { repositoryIdentifier, name, category: 'release', ...more };
    environments[name] = (await owner.post(201, '/api/environments', environment)).id;
  }
  await cutRelease(app, repositoryIdentifier, 'r1');
  await insertWebhook(app, { event: 'flow.requested' });
});
afterAll(() => app.close());

const release = (environmentName: string | undefined, more: object = {}) => ({
  id: 'execute-release',
  repositoryIdentifier,
  domain: 'core',
  releaseName: 'r1',
  environmentName,
  ...more,
});
const dry = (status: number, payload: object, caller: Bearer = app.owner): Promise<Json> =>
  app.as(caller).post(status, '/api/flows/run?dryRun=true', { payload });
const kept = async (): Promise<unknown> =>
  (
    await app.sql(
      `select (select count(*) from flow_run) as runs, (select count(*) from approval) as approvals,
        (select count(*) from audit_entry) as entries, (select count(*) from webhook_delivery) as deliveries,
        (select count(*) from environment_lock_ticket) as tickets, (select count(*) from flow_check) as checks`,
    )
  )[0];

test.each<[string, () => object, number]>([
  ['a release that may go', () => release('open'), 202],
  ['one that waits for a freeze', () => release('frozen'), 202],
  ['a release that is not there', () => release('open', { releaseName: 'none' }), 404],
  ['one on another branch', () => release('hotfix'), 409],
  ['one that must be deployed elsewhere first', () => release('after'), 409],
  ['an approval that nobody can give', () => release('by-member'), 409],
  ['a type that nothing executes', () => ({ id: 'install-changeset', repositoryIdentifier }), 409],
  ['a release without an environment', () => release(undefined), 400],
  ['an unknown type', () => ({ id: 'none' }), 400],
  [
    'a request for all environments',
    () => ({ ...release('open'), id: 'request-release', environmentNames: ['open'] }),
    202,
  ],
])('it says what the request would be answered: %s', async (_, payload, status) => {
  const before = await kept();
  const seen = await dry(status === 400 ? 400 : 200, payload());
  await expect(kept()).resolves.toEqual(before);
  const real = await app.as(app.owner).post(status, '/api/flows/run', { payload: payload() });
  if (status === 202) expect(seen).toMatchObject({ wouldStart: true, refusal: null });
  else if (status !== 400)
    expect(seen).toMatchObject({ wouldStart: false, refusal: { code: real.code, detail: real.detail } });
  else expect(seen.errors).toEqual(real.errors);
});

test('it says what the run would wait for', async () => {
  await expect(dry(200, release('asked'))).resolves.toMatchObject({
    executor: 'command',
    gates: {
      approval: { approvers: [app.member.email], minApprovals: 1, expiresAfter: 'PT2H' },
      after: null,
      soak: null,
      window: { isOpen: true, nextWindowAt: null, reason: null },
      lock: { environmentName: 'asked', heldBy: null, position: 0, estimatedWaitSeconds: 0 },
    },
    hold: null,
    changes: { packages: 1, commits: 0, workItems: 0 },
  });
  await expect(dry(200, release('frozen'))).resolves.toMatchObject({
    gates: { window: { isOpen: false, nextWindowAt: expect.any(String), reason: expect.stringContaining('year end') } },
  });
  await app.sql(
    `insert into environment_lock_ticket (id, tenant_id, project_id, environment_id, holder, holder_key, lease_minutes, state, held_at, expires_at)
      select gen_random_uuid(), e.tenant_id, e.project_id, e.id, ?::jsonb, 'somebody', 30, 'held', now(), now() + interval '1 hour'
      from environment e where e.id = ?`,
    [JSON.stringify({ type: 'user', email: 'ada@acme.example' }), environments.open],
  );
  await expect(dry(200, release('open'))).resolves.toMatchObject({
    gates: {
      approval: null,
      lock: { environmentName: 'open', heldBy: 'ada@acme.example', position: 1, estimatedWaitSeconds: null },
    },
  });
  await app.sql(`update environment_lock_ticket set expires_at = now() - interval '1 minute'`);
  await expect(dry(200, release('open'))).resolves.toMatchObject({
    gates: { lock: { environmentName: 'open', heldBy: null, position: 0, estimatedWaitSeconds: 0 } },
  });
});

test('a run that would fail at its window is accepted, and its window is shown', async () => {
  const payload = release('frozen', { failOutsideWindow: true });
  await expect(dry(200, payload)).resolves.toMatchObject({
    wouldStart: true,
    refusal: null,
    gates: { window: { isOpen: false, reason: expect.stringContaining('year end') } },
  });
  await app.as(app.owner).post(202, '/api/flows/run', { payload });
});

test('what is refused shows its gates, too: what is missing, the soak, and the hold', async () => {
  await expect(dry(200, release('after'))).resolves.toMatchObject({
    wouldStart: false,
    refusal: { code: 'invalid_transition' },
    executor: 'command',
    gates: {
      after: { missing: ['open'], reason: expect.stringContaining('open') },
      soak: null,
      window: { isOpen: true },
    },
    changes: { packages: 1 },
  });
  await app.as(app.owner).patch(200, `/api/environments/${environments.after}`, {
    promotion: { after: ['open'], soakMinutes: 60 },
  });
  await app.as(app.application).post(202, '/api/release-candidates/release-event', {
    repositoryIdentifier,
    domain: 'core',
    releaseName: 'r1',
    environmentName: 'open',
    deploymentStatus: 'Success',
  });
  const soaking = await dry(200, release('after'));
  expect(soaking).toMatchObject({ wouldStart: false, gates: { after: { missing: [], reason: null } } });
  expect(Date.parse(soaking.gates.soak.endsAt)).toBeGreaterThan(Date.now());
  const override = { override: { reason: 'now' } };
  await expect(dry(200, release('after', override))).resolves.toMatchObject({
    wouldStart: true,
    gates: { after: null, soak: null, window: null },
  });
  const { id } = await cutRelease(app, repositoryIdentifier, 'r1');
  await app.as(app.member).post(200, `/api/release-candidates/${id}/hold`, { reason: 'price list' });
  await expect(dry(200, release('open', override))).resolves.toMatchObject({
    wouldStart: false,
    refusal: { code: 'held' },
    hold: { source: 'person', reason: 'price list', until: null },
    gates: { lock: { environmentName: 'open' } },
    changes: { packages: 0 },
  });
  const inStages = { id: 'request-release', environmentName: undefined, environmentNames: ['asked', 'open'] };
  await expect(dry(200, release(undefined, inStages))).resolves.toMatchObject({
    refusal: { code: 'held' },
    executor: 'children',
    gates: null,
    hold: { source: 'person' },
    changes: { packages: 1 },
  });
  // The branch refuses it first, or that nothing executes it.
  for (const [earlier, held] of [
    ['invalid_transition', release('hotfix')],
    ['flow_unavailable', release('open', { executor: 'pipeline' })],
  ] as const)
    await expect(dry(200, held)).resolves.toMatchObject({
      wouldStart: false,
      refusal: { code: earlier },
      hold: { source: 'person', reason: 'price list' },
    });
  await cutRelease(app, repositoryIdentifier, 'r2', { value: { artifacts: { app: '1.1.0' } } });
  await app
    .as(app.application)
    .post(202, '/api/release-candidates/release-event', success(repositoryIdentifier, 'r2', 'open'));
  const rollback = { id: 'rollback-release', repositoryIdentifier, domain: 'core', environmentName: 'open' };
  await expect(dry(200, rollback)).resolves.toMatchObject({
    refusal: { code: 'held' },
    hold: { source: 'person', reason: 'price list' },
    changes: { packages: 1 },
  });
  await app.as(app.member).post(200, `/api/release-candidates/${id}/release-hold`);
});

test('every verification that holds a release is asked, also where an earlier stage brings about another one', async () => {
  const { id } = await cutRelease(app, repositoryIdentifier, 'unverified');
  await app.as(app.owner).patch(200, `/api/environments/${environments.after}`, {
    promotion: { after: ['open', 'asked'] },
  });
  await app.sql(
    `update release_candidate set holds = (select jsonb_agg(jsonb_build_object('reason', 'smoke', 'until', null, 'by', 'service',
        'since', '2026-01-01T00:00:00.000Z', 'verification',
        jsonb_build_object('environmentId', w.id, 'contentDigest', content_digest)) order by w.no)
      from unnest(?::text[]) with ordinality as w (id, no)) where id = ?`,
    [`{${environments.open},${environments.asked}}`, id],
  );
  const request = { id: 'request-release', releaseName: 'unverified', environmentNames: ['open', 'after'] };
  await expect(dry(200, release(undefined, request))).resolves.toMatchObject({
    wouldStart: false,
    refusal: { code: 'held', detail: expect.stringContaining('verification in asked failed') },
  });
});

test('who may not, may not ask either', async () => {
  await dry(403, release('frozen', { override: { reason: 'now' } }), app.member);
  await dry(400, release('open'), app.stranger);
});

test.each([
  ['service', null, /does not execute build/],
  ['command', 'command', null],
  ['pipeline', null, /name a `pipeline`/],
] as const)('a payload asks for its executor: %s', async (wanted, executor, refusal) => {
  const payload = { id: 'build', repositoryIdentifier, executor: wanted };
  const seen = await dry(200, payload);
  expect(seen.executor).toBe(executor);
  if (refusal) expect(seen.refusal).toEqual({ code: 'flow_unavailable', detail: expect.stringMatching(refusal) });
  await app.as(app.owner).post(refusal ? 409 : 202, '/api/flows/run', { payload });
});

test('a project says what executes a type, where a payload does not', async () => {
  const identifier = 'acme/by-default';
  const project = { identifier, platform: 'host-a', configuration: { executors: { build: 'pipeline' } } };
  await app.as(app.owner).post(201, '/api/projects', project);
  const payload = { id: 'build', repositoryIdentifier: identifier };
  await expect(dry(200, payload)).resolves.toMatchObject({ refusal: { code: 'flow_unavailable' } });
  await expect(dry(200, { ...payload, pipeline: { id: 'ci.yml' } })).resolves.toMatchObject({ executor: 'cicd' });
  await expect(dry(200, { ...payload, executor: 'auto' })).resolves.toMatchObject({ executor: 'command' });
  const { id } = await app.as(app.owner).post(202, '/api/flows/run', { payload: { ...payload, executor: 'command' } });
  await expect(app.as(app.owner).get(200, `/api/flows/runs/${id}`)).resolves.toMatchObject({ executionMode: 'flow' });
  await expect(
    app.as(app.owner).post(400, '/api/projects', {
      ...project,
      identifier: 'acme/mistaken',
      configuration: { executors: { biuld: 'command' } },
    }),
  ).resolves.toMatchObject({
    errors: [{ pointer: '#/body/configuration/executors/biuld', detail: expect.stringContaining('build') }],
  });
});

test('each type says what could execute it', async () => {
  const types: Json[] = await app.as(app.owner).get(200, '/api/flows/types');
  expect(types.find(({ id }) => id === 'build')?.executors).toEqual([
    { executor: 'service', available: false, reason: expect.stringContaining('does not execute build') },
    { executor: 'command', available: true, reason: null },
    { executor: 'pipeline', available: true, reason: null },
  ]);
});
