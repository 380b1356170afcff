import { UserActivity } from '../../../../api/people/user-activity/user-activity.schemas.ts';
import { sent } from '../../../simulators/host-hooks.ts';
import { pullRequestHook } from '../../../simulators/pull-request-hooks.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Bearer, Json } from '../../../support/client.ts';
import { sendHook } from '../../../support/hooked.ts';
import { idleEngine } from '../../../support/launch.ts';
import { reviewStage } from '../../../support/review.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

const SECRETS = 'force://PlatformCLI::secret@acme.my.salesforce.example';

async function stage() {
  const review = await reviewStage(app);
  const { repositoryIdentifier } = review;
  const address = `/api/projects/${encodeURIComponent(repositoryIdentifier)}/hook-secret`;
  const { secret } = await app.as(app.owner).post(201, address);
  const tell = (number: number, author: string) =>
    sendHook(app, 202, sent(pullRequestHook('host-a', { repository: repositoryIdentifier, number, author }), secret));
  const activity = (caller: Bearer = app.member): Promise<Json> =>
    app
      .as(caller)
      .get(200, `/api/users/me/activity?${new URLSearchParams({ repositoryIdentifier, githubUsername: 'dana' })}`);
  return { ...review, tell, activity };
}

test('review environments of shown pull requests are shown with links to this service, and without any credential', async () => {
  const { repositoryIdentifier, tell, activity, assign, orgs } = await stage();
  await tell(7, 'dana');
  await tell(8, 'dana');
  await tell(9, 'erin');
  const [username = ''] = await orgs(1, { cliAuthUrl: SECRETS, instanceUrl: 'https://acme.my.salesforce.example' });
  const { id } = await assign({ assignmentId: '7', branch: 'change-7' });
  await assign({ assignmentId: '8' }, 202);
  await assign({ assignmentId: '9' }, 202);
  await assign({ assignmentId: '7', assignmentType: 'issue' }, 202);
  const shown = await activity();
  expect(UserActivity.parse(shown)).toEqual(shown);
  const [repository] = shown.repositories;
  expect(repository.reviewEnvironments).toMatchObject([
    {
      orgId: null,
      username,
      browserLoginUrl: `http://quayside.test/review-env/${id}`,
      loginUrl: `http://quayside.test/api/auth/crm/frontdoor?target=${encodeURIComponent(username)}`,
      apiAuthUrl: null,
      type: 'pool',
      branch: 'change-7',
      pool: 'review',
      environmentName: null,
      status: 'active',
      isActive: true,
      prNumber: 7,
      repositoryIdentifier,
      isImmortal: false,
    },
    { username: null, loginUrl: null, status: 'pending', isActive: false, assignedAt: null, prNumber: 8 },
  ]);
  const [{ assignedAt, expiryDate }] = repository.reviewEnvironments;
  expect(expiryDate - assignedAt).toBe(24 * 3_600_000);
  const of = (number: number) => repository.pullRequests.open.find((each: Json) => each.number === number);
  expect(of(7).reviewEnvironment).toEqual(repository.reviewEnvironments[0]);
  expect(of(8).reviewEnvironment).toEqual(repository.reviewEnvironments[1]);
  expect(shown.devEnvironments).toEqual([]);
  const text = JSON.stringify(shown);
  for (const secret of [SECRETS, 'secret', 'my.salesforce.example', 'force:']) expect(text).not.toContain(secret);

  await app.as(app.owner).post(200, `/api/review/assignments/${id}/release`);
  const after = (await activity()).repositories[0].reviewEnvironments;
  expect(after.map(({ prNumber }: Json) => prNumber)).toEqual([8]);
});

test('orgs that are assigned to the caller, and to nobody else, are development environments', async () => {
  const { repositoryIdentifier, activity, assign, orgs } = await stage();
  const [username = ''] = await orgs(1);
  const own = { assignmentType: 'user', assignmentId: app.member.email.toUpperCase() };
  await assign(own, 201);
  await assign({ assignmentType: 'user', assignmentId: app.owner.email }, 202);
  const shown = await activity();
  expect(UserActivity.parse(shown)).toEqual(shown);
  expect(shown.devEnvironments).toEqual([
    {
      poolTag: 'review',
      sandboxName: username,
      alias: 'review',
      status: 'active',
      instanceUrl: `http://quayside.test/api/auth/crm/frontdoor?target=${encodeURIComponent(username)}`,
      repositoryIdentifier,
      assignedAt: expect.any(String),
      expiresAt: expect.any(String),
      isImmortal: false,
    },
  ]);
  expect((await activity(app.owner)).devEnvironments).toMatchObject([
    { status: 'pending', sandboxName: null, instanceUrl: null },
  ]);
  expect((await activity(app.application)).devEnvironments).toEqual([]);
  // Only those of the projects that were asked for.
  const other = await stage();
  expect((await other.activity()).devEnvironments).toEqual([]);
});
