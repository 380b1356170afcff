import { type TestApp, testApp } from '../../../support/app.ts';
import type { Bearer } from '../../../support/client.ts';
import { idleEngine } from '../../../support/launch.ts';
import { cutRelease } from '../../../support/releases.ts';
import { tracedRuns } from '../../../support/traced-runs.ts';

let app: TestApp;
let limited: Bearer;
const runs = tracedRuns(() => app, { 'execute-release': 'true', 'install-packages': 'true' });
const { repositoryIdentifier } = runs;

beforeAll(async () => {
  app = await testApp({ launch: idleEngine, env: { COMMANDS_FILE: runs.commandsFile } });
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  for (const [name, approvalPolicy] of [
    ['by-member', { approvers: [app.member.email] }],
    ['by-two', { approvers: [app.member.email, app.owner.email], minApprovals: 2 }],
    ['by-owners', {}],
    ['by-oneself', { approvers: [app.member.email], allowSelfApproval: true }],
  ] as const)
    await owner.post(201, '/api/environments', { repositoryIdentifier, name, category: 'release', approvalPolicy });
  await cutRelease(app, repositoryIdentifier, 'r1');
  limited = await owner.post(201, '/api/application-tokens', { name: 'limited', projects: [repositoryIdentifier] });
});
afterAll(async () => {
  await app.close();
  runs.remove();
});

const payload = (environmentName: string) => ({
  id: 'execute-release',
  repositoryIdentifier,
  domain: 'core',
  releaseName: 'r1',
  environmentName,
  note: 'n',
});
const count = async (): Promise<number> =>
  (await app.sql<{ count: number }>('select count(*)::int as count from flow_run'))[0]?.count ?? 0;

test.each<[number, string, () => Bearer]>([
  [409, 'by-member', () => app.member],
  [202, 'by-member', () => app.owner],
  [202, 'by-member', () => limited],
  [409, 'by-two', () => app.member],
  [202, 'by-two', () => app.application],
  [409, 'by-owners', () => app.owner],
  [202, 'by-owners', () => app.member],
  [409, 'by-owners', () => limited],
  [202, 'by-oneself', () => app.member],
])('%s for a release to an environment that is approved %s', async (status, environmentName, caller) => {
  const before = await count();
  const reply = await app.as(caller()).post(status, '/api/flows/run', { payload: payload(environmentName) });
  if (status === 202) return;
  expect(reply).toMatchObject({ code: 'too_few_approvers', detail: expect.stringMatching(/without those who ask/) });
  expect(await count()).toBe(before);
});

test('nor is there a run to all environments, by a schedule, or by a policy of its own, that could never be approved', async () => {
  const before = await count();
  const refuse = async (path: string, body: object, caller: Bearer = app.member): Promise<void> => {
    const reply = await app.as(caller).post(409, path, body);
    expect(reply.code).toBe('too_few_approvers');
  };
  const { environmentName: _, ...release } = payload('');
  const all = { ...release, id: 'request-release', environmentNames: ['by-oneself', 'by-member'] };
  await refuse('/api/flows/run', { payload: all });
  await app.as(app.member).post(202, '/api/flows/run', { payload: { ...all, environmentNames: ['by-oneself'] } });
  const schedule = { name: 'nightly', cron: '0 3 * * *', payload: payload('by-owners') };
  await refuse('/api/flows/schedules', schedule, app.owner);
  await app.as(app.owner).post(201, '/api/flows/schedules', { ...schedule, payload: payload('by-member') });
  const approvalPolicy = { approvers: ['nobody@acme.example'] };
  const install = { id: 'install-packages', repositoryIdentifier, orgUsername: 'x@acme.example', approvalPolicy };
  await app.as(app.owner).patch(200, `/api/projects/${encodeURIComponent(repositoryIdentifier)}`, {
    configuration: { approvalPolicy: { skipApproval: true } },
  });
  await refuse('/api/flows/run', { payload: { ...install, note: 'n' } });
  expect(await count()).toBe(before + 1);
});
