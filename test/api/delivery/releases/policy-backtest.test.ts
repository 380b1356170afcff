import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { insertApproval, insertRun } from '../../../support/factories.ts';
import { idleEngine } from '../../../support/launch.ts';
import { cutRelease, success } from '../../../support/releases.ts';

const repositoryIdentifier = 'acme/tried';
const path = `/api/projects/${encodeURIComponent(repositoryIdentifier)}/policy-backtest`;
const HOUR_MS = 3_600_000;
const NOW = Date.now();
const hoursAgo = (hours: number): string => new Date(NOW - hours * HOUR_MS).toISOString();
/** When releases were deployed to uat and to prod, in hours before now. */
const DEPLOYED = [
  [30, 20],
  [10, 9],
  [undefined, 5],
] as const;

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  for (const [orchestrationOrder, name] of ['uat', 'prod'].entries()) {
    const category = name === 'prod' ? 'release' : 'test';
    await owner.post(201, '/api/environments', { repositoryIdentifier, name, category, orchestrationOrder });
  }
  for (const [index, [uat, prod]] of DEPLOYED.entries()) {
    const releaseName = `r${index + 1}`;
    await cutRelease(app, repositoryIdentifier, releaseName, { value: { artifacts: { app: `1.0.${index}` } } });
    for (const [environment, at] of Object.entries({ uat, prod })) {
      if (at === undefined) continue;
      const body = success(repositoryIdentifier, releaseName, environment, { deployedAt: hoursAgo(at) });
      await app.as(app.application).send('POST', '/api/release-candidates/release-event', { body });
    }
  }
  await app.sql(`update release_candidate set created_at = ?::timestamptz - interval '40 hours'`, [
    new Date(NOW).toISOString(),
  ]);
});
afterAll(() => app.close());

const tried = async (body: object, status = 200): Promise<Json> =>
  app.as(app.member).post(status, path, { from: hoursAgo(48), to: new Date(NOW + HOUR_MS).toISOString(), ...body });

test('it says what a policy would have refused and delayed, and what that costs, and stores nothing', async () => {
  const rows = () =>
    app.sql('select (select count(*) from audit_entry) as entries, (select count(*) from flow_run) as runs');
  const before = await rows();
  const { environments } = await tried({ promotion: { after: ['uat'], soakMinutes: 300 } });
  expect(environments).toEqual([
    {
      environment: 'prod',
      deployments: 3,
      refused: [{ releaseName: 'r3', domain: 'core', deployedAt: hoursAgo(5), reason: expect.stringContaining('uat') }],
      refusedTotal: 1,
      waited: [
        {
          releaseName: 'r2',
          domain: 'core',
          deployedAt: hoursAgo(9),
          reason: expect.stringContaining('300 min'),
          waitSeconds: 4 * 3_600,
          until: hoursAgo(5),
        },
      ],
      waitedTotal: 1,
      approvalSeconds: null,
      leadTimeSeconds: { before: 31 * 3_600, after: 35 * 3_600 },
    },
  ]);
  await expect(rows()).resolves.toEqual(before);
});

test('what the environments have now is tried where nothing is proposed, in the time and places that are named', async () => {
  const { environments } = await tried({ environments: ['uat', 'prod'], from: hoursAgo(15) });
  const shown = environments.map((each: Json) => [each.environment, each.deployments, each.waitedTotal]);
  expect(shown).toEqual([
    ['uat', 1, 0],
    ['prod', 2, 0],
  ]);
});

test('an approval costs the median of its environment, and nobody knows it where none was given', async () => {
  const unknown = await tried({ approvalPolicy: { minApprovals: 1 } });
  expect(unknown.environments[0]).toMatchObject({
    approvalSeconds: null,
    waitedTotal: 0,
    leadTimeSeconds: { before: expect.any(Number), after: null },
  });
  const listed: Json[] = await app
    .as(app.owner)
    .get(200, `/api/environments?repositoryIdentifier=${encodeURIComponent(repositoryIdentifier)}`);
  const environmentId: string = listed.find(({ name }) => name === 'prod')?.id;
  for (const minutes of [10, 30, 300]) {
    const resolvedAt = new Date(NOW);
    const createdAt = new Date(NOW - minutes * 60_000);
    const runId = await insertRun(app, { repositoryIdentifier, requestedBy: app.member.email });
    const times = { createdAt, resolvedAt };
    await insertApproval(app, { repositoryIdentifier, runId, environmentId, status: 'approved', ...times });
  }
  const known = await tried({ approvalPolicy: { minApprovals: 1 } });
  expect(known.environments[0]).toMatchObject({ approvalSeconds: 1_800, waitedTotal: 3 });
  const { before, after } = known.environments[0].leadTimeSeconds;
  expect(after - before).toBe(1_800);
  const none = await tried({ approvalPolicy: { skipApproval: true } });
  expect(none.environments[0]).toMatchObject({ approvalSeconds: null, waitedTotal: 0 });
});

test.each<[object, string]>([
  [{ from: hoursAgo(24 * 181) }, '#/body/from'],
  [{ from: hoursAgo(1), to: hoursAgo(2) }, '#/body/to'],
  [{ environments: ['none'] }, '#/body/environments/0'],
  [{ environments: [] }, '#/body/environments'],
  [{ promotion: { after: ['none'] } }, '#/body/promotion/after/0'],
  [{ promotion: { soakMinutes: 5 } }, '#/body/promotion/soakMinutes'],
])('what cannot be tried is refused: %j', async (body, pointer) => {
  expect((await tried(body, 400)).errors[0].pointer).toBe(pointer);
});

test('another tenant finds nothing', async () => {
  await app.as(app.stranger).post(404, path, { from: hoursAgo(2), to: hoursAgo(1) });
});
