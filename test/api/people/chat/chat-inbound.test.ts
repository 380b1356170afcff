import { type SlackSimulator, slackSimulator } from '../../../simulators/slack/slack.ts';
import { actionQueue } from '../../../../activities/people/chat/chat-queues.ts';
import { createApprovalActivities } from '../../../../activities/delivery/approvals/approvals.activities.ts';
import { signatureHeaders, type SlackUser, type SlackWorkspace } from '../../../simulators/slack/workspace.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { activityDeps } from '../../../support/activities.ts';
import { connectedWorkspace } from '../../../support/chat.ts';
import { insertRun } from '../../../support/factories.ts';
import { engineAway, idleEngine } from '../../../support/launch.ts';

const said: { logs: string[]; problems: string[] } = { logs: [], problems: [] };
let slack: SlackSimulator;
let app: TestApp;
let acme: SlackWorkspace;
let foreign: SlackWorkspace;
let dana: SlackUser;
beforeAll(async () => {
  slack = await slackSimulator();
  app = await testApp({ launch: engineAway, env: { SLACK_API_URL: slack.apiUrl }, said });
  acme = await connectedWorkspace(app, slack, 'Acme');
  foreign = await connectedWorkspace(app, slack, 'Other', app.stranger);
  dana = acme.addUser('dana', app.owner.email);
});
afterAll(async () => {
  await app.close();
  await slack.close();
});
beforeEach(() => app.sql('delete from chat_action'));

const stored = () => app.sql<{ content: object; response_url: string | null }>('select * from chat_action order by id');
const keyOf = (workspace: SlackWorkspace) =>
  /inbound\/([^/]+)/.exec(workspace.addresses.get('events') ?? '')?.[1] ?? '';

test('a command is stored and answered at once with nothing', async () => {
  const { status, text } = await acme.command(dana, 'where SHOP-12');
  expect([status, text]).toEqual([200, '']);
  const [row, ...others] = await stored();
  expect(others).toEqual([]);
  expect(row).toMatchObject({
    content: { kind: 'command', chatUserId: dana.id, text: 'where SHOP-12' },
    response_url: expect.stringContaining(`${slack.url}/actions/`),
    status: 'pending',
  });
});

test('a click on Approve is stored; on a link, or of another kind, it is acknowledged', async () => {
  const message = acme.post('C0GENERAL', 'x', []);
  const click = (actionId: string) => acme.send(acme.clickRequest(dana, message, { actionId, value: 'v', text: 't' }));
  expect((await click('open')).status).toBe(200);
  expect(await stored()).toEqual([]);
  expect((await click('approval.approve')).status).toBe(200);
  expect(await stored()).toMatchObject([
    { content: { kind: 'click', chatUserId: dana.id, actionId: 'approval.approve', value: 'v' } },
  ]);
});

test('forged, stale, unsigned and replayed requests, and those of others, are refused', async () => {
  const request = acme.commandRequest(dana, 'help');
  const send = async (change: Partial<typeof request>) => (await acme.send({ ...request, ...change })).status;
  const resigned = (secret: string, at?: Date) => ({
    headers: { ...request.headers, ...signatureHeaders(secret, request.body, at) },
  });
  expect(await send(resigned('0'.repeat(32)))).toBe(401);
  expect(await send({ body: `${request.body}&text=approvals` })).toBe(401);
  expect(await send(resigned(acme.signingSecret, new Date(Date.now() - 301_000)))).toBe(401);
  expect(await send(resigned(acme.signingSecret, new Date(Date.now() + 301_000)))).toBe(401);
  expect(await send({ headers: { 'content-type': 'application/x-www-form-urlencoded' } })).toBe(401);
  expect(await send({ headers: { ...request.headers, 'x-slack-signature': 'v0=short' } })).toBe(401);
  // Signed by another tenant, at this tenant's address, and the other way round.
  expect(await send(resigned(foreign.signingSecret))).toBe(401);
  expect(await send({ url: foreign.addresses.get('commands') ?? '' })).toBe(401);
  expect(await send({ url: request.url.replace(keyOf(acme), 'no-such-key') })).toBe(401);
  // This workspace is another one of the tenant.
  const second = await connectedWorkspace(app, slack, 'Second');
  expect(await send(resigned(second.signingSecret))).toBe(401);
  expect(await stored()).toEqual([]);
  expect(await send({})).toBe(200);
  expect(await send({})).toBe(401);
  // Only events are repeated.
  expect(await send({ headers: { ...request.headers, 'x-slack-retry-num': '1' } })).toBe(401);
  expect(await stored()).toHaveLength(1);
});

test('an event counts once, however often it is sent', async () => {
  const event = { type: 'app_uninstalled' };
  const request = acme.eventRequest(event, 'Ev1');
  expect((await acme.send(request)).status).toBe(200);
  const repeated = { ...request, headers: { ...request.headers, 'x-slack-retry-num': '1' } };
  expect((await acme.send(repeated)).status).toBe(200);
  const later = {
    ...request.headers,
    ...signatureHeaders(acme.signingSecret, request.body, new Date(Date.now() - 2_000)),
  };
  expect((await acme.send({ ...request, headers: later })).status).toBe(200);
  expect((await acme.send(acme.eventRequest({ type: 'team_rename' }))).status).toBe(200);
  expect(
    (await acme.send(acme.eventRequest({ type: 'tokens_revoked', tokens: { oauth: ['U1'], bot: [] } }))).status,
  ).toBe(200);
  expect(await stored()).toMatchObject([{ content: { kind: 'disconnect', reason: 'app_uninstalled' } }]);
});

test('the challenge of a verified address is answered', async () => {
  const { status, text } = await acme.send(acme.verificationRequest('a-challenge'));
  expect([status, text]).toEqual([200, 'a-challenge']);
  const forged = acme.verificationRequest('a-challenge');
  forged.headers = { ...forged.headers, ...signatureHeaders('0'.repeat(32), forged.body) };
  expect((await acme.send(forged)).status).toBe(401);
});

test('answers go to the host of Slack only, and hostile bodies do no harm', async () => {
  const send = (fields: Record<string, string>) => {
    const body = new URLSearchParams({ team_id: acme.teamId, user_id: dana.id, text: 'help', ...fields }).toString();
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      ...signatureHeaders(acme.signingSecret, body),
    };
    return acme.send({ url: acme.addresses.get('commands') ?? '', body, headers });
  };
  for (const url of [
    'http://169.254.169.254/',
    'https://hooks.slack.com.evil.example/',
    'https://evil.example@x/',
    'x',
  ])
    expect((await send({ response_url: url })).status).toBe(200);
  expect((await send({ response_url: 'https://hooks.slack.com/commands/1' })).status).toBe(200);
  expect((await stored()).map((row) => row.response_url)).toEqual([
    null,
    null,
    null,
    null,
    'https://hooks.slack.com/commands/1',
  ]);
  const interactions = acme.addresses.get('interactions') ?? '';
  for (const payload of [
    '',
    'not json',
    '[]',
    '{"type":"block_actions"}',
    `{"team":{"id":"${acme.teamId}"},"actions":"x"}`,
  ]) {
    const body = new URLSearchParams({ payload }).toString();
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      ...signatureHeaders(acme.signingSecret, body),
    };
    expect([200, 401]).toContain((await acme.send({ url: interactions, body, headers })).status);
  }
  const large = 'x'.repeat(600_000);
  expect((await send({ text: large })).status).toBe(413);
});

test('a workspace that is not active is acknowledged, and nothing is stored', async () => {
  await app.as(app.owner).patch(200, '/api/slack/workspace', { team_id: acme.teamId, is_active: false });
  expect((await acme.command(dana, 'help')).status).toBe(200);
  expect(await stored()).toEqual([]);
  await app.as(app.owner).patch(200, '/api/slack/workspace', { team_id: acme.teamId, is_active: true });
});

test('logs and problems show no secret and no signature', () => {
  const texts = [...said.logs, ...said.problems].join('\n');
  expect(said.logs.length).toBeGreaterThan(0);
  for (const secret of [acme.botToken, acme.signingSecret, foreign.signingSecret, 'v0=', '/actions/'])
    expect(texts).not.toContain(secret);
});

test('a click while nobody applies decisions is kept, tried again, and given up with a private sentence', async () => {
  const activities = activityDeps({ env: app.env, launch: idleEngine });
  try {
    const repositoryIdentifier = 'acme/shop';
    await app.as(app.owner).post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
    const { id: environmentId } = await app.as(app.owner).post(201, '/api/environments', {
      repositoryIdentifier,
      name: 'production',
      category: 'release',
      approvalPolicy: { approvers: [app.owner.email] },
    });
    const runId = await insertRun(app, { repositoryIdentifier, requestedBy: app.member.email, environmentId });
    const { approvalId: value } = await createApprovalActivities(activities.deps).openApproval({
      ...app.tenantKey,
      runId,
    });
    const message = acme.post('C0GENERAL', 'x', []);
    await acme.send(acme.clickRequest(dana, message, { actionId: 'approval.approve', value, text: 'Approve' }));
    const [{ workspace_id: workspaceId } = { workspace_id: '' }] = await app.sql<{ workspace_id: string }>(
      'select workspace_id from chat_action',
    );
    const lane = { ...app.tenantKey, workspaceId };
    const perform = async () => {
      const works = await actionQueue({ ...activities.deps, launch: engineAway }).claim(lane, 8);
      await Promise.all(works.map((work) => work()));
      return works.length;
    };
    const row = () => app.sql('select status, attempts, due_at > now() as is_later from chat_action');
    expect(await perform()).toBe(1);
    expect(await row()).toEqual([{ status: 'pending', attempts: 1, is_later: true }]);
    expect(acme.ephemerals).toEqual([]);
    await app.sql(
      `update chat_action set due_at = now() - interval '1 second', created_at = now() - interval '16 minutes'`,
    );
    expect(await perform()).toBe(1);
    expect(await row()).toMatchObject([{ status: 'failed', attempts: 2 }]);
    expect(acme.ephemerals).toMatchObject([
      { only: dana.id, text: expect.stringMatching(/^Your decision was not recorded.* try again\.$/) },
    ]);
    expect(await app.as(app.owner).get(200, `/api/flows/approvals/${value}`)).toMatchObject({ status: 'requested' });
  } finally {
    await activities.close();
  }
});
