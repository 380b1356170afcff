import { createApprovalActivities } from '../../../../activities/delivery/approvals/approvals.activities.ts';
import { type SlackSimulator, slackSimulator } from '../../../simulators/slack/slack.ts';
import type { SlackUser, SlackWorkspace } from '../../../simulators/slack/workspace.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { connectedWorkspace } from '../../../support/chat.ts';
import type { Json } from '../../../support/client.ts';
import { insertMembership, insertRun, insertUser } from '../../../support/factories.ts';
import { reviewStage } from '../../../support/review.ts';
import { historiesOf } from '../../../support/histories.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const repositoryIdentifier = 'acme/shop';
let slack: SlackSimulator;
let app: TestApp;
let worker: TestWorker;
let activities: ReturnType<typeof activityDeps>;
let acme: SlackWorkspace;
let owner: SlackUser;
let member: SlackUser;
beforeAll(async () => {
  slack = await slackSimulator();
  app = await testApp({ env: { SLACK_API_URL: slack.apiUrl } });
  worker = await startWorker(app, ['approvals-v1', 'webhooks-v1']);
  activities = activityDeps(app);
  await app.as(app.owner).post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  acme = await connectedWorkspace(app, slack, 'Acme');
  owner = acme.addUser('owner', app.owner.email.toUpperCase());
  member = acme.addUser('member', app.member.email);
});
afterAll(async () => {
  await worker.stop();
  await activities.close();
  await app.close();
  await slack.close();
});
beforeEach(async () => {
  slack.heal();
  // The answers to clicks of the test before are given by then.
  await settled();
  acme.ephemerals.length = 0;
});

let made = 0;
/** An approval that a run of the member's waits for. */
async function approval(policy: object = { approvers: [app.owner.email] }, releaseName?: string): Promise<string> {
  const { id: environmentId } = await app.as(app.owner).post(201, '/api/environments', {
    repositoryIdentifier,
    name: `e${++made}`,
    category: 'release',
    approvalPolicy: policy,
  });
  const runId = await insertRun(app, {
    repositoryIdentifier,
    requestedBy: app.member.email,
    environmentId,
    ...(releaseName !== undefined && { releaseName }),
  });
  return (await createApprovalActivities(activities.deps).openApproval({ ...app.tenantKey, runId })).approvalId;
}

const get = (id: string): Promise<Json> => app.as(app.owner).get(200, `/api/flows/approvals/${id}`);
const becomes = (id: string, status: string) =>
  eventually(
    () => get(id),
    (found) => found.status === status,
  );
/** Clicks a button with the approval in its value. */
const click = (user: SlackUser, id: string, decision: 'approve' | 'reject' = 'approve') =>
  acme.send(
    acme.clickRequest(user, acme.post('C0GENERAL', 'x', []), {
      actionId: `approval.${decision}`,
      value: id,
      text: decision,
    }),
  );
const privately = (count = 1) =>
  eventually(
    async () => acme.ephemerals,
    (messages) => messages.length >= count,
  );
/** Waits for a message among those of clicks that were made before and are still answered. */
const told = (text: RegExp) =>
  eventually(
    async () => acme.ephemerals,
    (messages) => messages.some((message) => text.test(message.text)),
  );
const settled = () =>
  eventually(
    () => app.sql<{ status: string }>(`select status from chat_action where status = 'pending'`),
    (rows) => rows.length === 0,
  );

test('a click is the decision of the person who clicked, audited with where it was made', async () => {
  const id = await approval();
  expect((await click(owner, id)).status).toBe(200);
  const decided = await becomes(id, 'approved');
  expect(decided.resolvedBy).toBe(app.owner.email);
  const [entry] = await app.sql<Json>(
    `select * from audit_entry where action = 'approval.approved' and entity_id = ?`,
    [id],
  );
  expect(entry).toMatchObject({ actor_email: app.owner.email, source: 'approval', after: { via: 'slack' } });
  await settled();
  // Nobody had noted that message.
  expect(acme.ephemerals).toMatchObject([{ only: owner.id, text: expect.stringMatching(/^You approved /) }]);
});

test('a decision of which Slack no longer takes the answer is made all the same', async () => {
  const id = await approval();
  const message = acme.post('C0GENERAL', 'x', [], owner.id);
  const request = acme.clickRequest(owner, message, { actionId: 'approval.approve', value: id, text: 'Approve' });
  slack.fail({ kind: 'status', status: 404, method: 'response_url' });
  await acme.send(request);
  await becomes(id, 'approved');
  await settled();
  expect(await app.sql(`select status from chat_action where content->>'value' = ?`, [id])).toEqual([
    { status: 'done' },
  ]);
});

test('a message whose place was lost is changed after a click on it, and a vote that was given meanwhile shows', async () => {
  const id = await approval({
    approvers: [app.owner.email, app.member.email],
    minApprovals: 2,
    allowSelfApproval: true,
  });
  await app.as(app.member).post(200, `/api/flows/approvals/${id}/approve`, {});
  const message = acme.post('C0GENERAL', 'x', []);
  const button = { actionId: 'approval.approve', value: id, text: 'Approve' };
  const stranger = acme.addUser('passer-by', 'nobody@elsewhere.example');
  await acme.send(acme.clickRequest(stranger, message, button));
  await eventually(
    async () => JSON.stringify(message.blocks),
    (blocks) => blocks.includes('1 of 2'),
  );
  await acme.send(acme.clickRequest(owner, message, button));
  await eventually(
    async () => message,
    ({ text, buttons }) => text.startsWith('Approved: ') && buttons.length === 0,
  );
});

test('who clicked is told when the decision could not be made for too long', async () => {
  const id = await approval();
  const late = acme.addUser('late', app.owner.email);
  slack.fail({ kind: 'error', error: 'internal_error', method: 'users.info', times: 1_000 });
  await click(late, id);
  await app.sql(`update chat_action set created_at = now() - interval '16 minutes' where content->>'value' = ?`, [id]);
  const [{ text, only } = { text: '' }] = await privately();
  expect(text).toMatch(/^Your decision was not recorded/);
  expect(only).toBe(late.id);
  await settled();
  expect((await get(id)).status).toBe('requested');
});

test('clicked twice, by one person or by two, it is decided once', async () => {
  const id = await approval({ approvers: [app.owner.email, app.member.email], allowSelfApproval: true });
  await Promise.all([click(owner, id), click(owner, id), click(member, id, 'reject'), click(owner, id)]);
  const { status, steps } = await eventually(
    () => get(id),
    (found) => found.status !== 'requested',
  );
  await settled();
  expect(['approved', 'rejected']).toContain(status);
  expect(steps.filter(({ status: each }: Json) => each !== 'requested')).toHaveLength(1);
});

test('a stranger, the requester and whoever is too late get a private sentence, and nothing is decided', async () => {
  const id = await approval({ approvers: [] });
  const nobody = acme.addUser('nobody', 'nobody@elsewhere.example');
  const secretive = acme.addUser('secretive');
  const stranger = acme.addUser('guest', app.owner.email, { isStranger: true });
  const foreigner = acme.addUser('foreigner', app.stranger.email);
  for (const user of [nobody, secretive, stranger, foreigner]) await click(user, id);
  const messages = await privately(4);
  for (const { text } of messages) expect(text).toMatch(/Nobody in Quayside has the e-mail address/);
  expect(new Set(messages.map(({ only }) => only))).toEqual(
    new Set([nobody, secretive, stranger, foreigner].map((u) => u.id)),
  );

  acme.ephemerals.length = 0;
  await click(member, id);
  await told(/Only approvers may decide: the owners/);
  const third = 'third@acme.example';
  await insertMembership(app, await insertUser(app.db, third), 'member');
  const own = await approval({ approvers: [app.member.email, third] });
  acme.ephemerals.length = 0;
  await click(member, own);
  await told(/Who asked for this approval may not give it/);
  acme.ephemerals.length = 0;
  const late = await approval();
  await app.sql(`update approval set expires_at = now() - interval '1 second' where id = ?`, [late]);
  await click(owner, late);
  await told(/expired already; that is final/);
  acme.ephemerals.length = 0;
  await click(owner, '0198c5a0-7b3e-7000-8000-000000000001');
  await told(/approval was not found/);
  for (const each of [id, own]) expect((await get(each)).status).toBe('requested');
});

test("a person is known by an alias, and by today's role", async () => {
  await app.sql(
    `insert into user_alias (email, user_id, provider) select 'dana@chat.example', id, 'host-a' from user_account where email = ?`,
    [app.owner.email],
  );
  const dana = acme.addUser('dana', 'Dana@Chat.example');
  const id = await approval();
  await click(dana, id, 'reject');
  expect((await becomes(id, 'rejected')).resolvedBy).toBe(app.owner.email);
  const asked = slack.calls.filter(({ method }) => method === 'users.info').length;
  const next = await approval();
  await click(dana, next);
  await becomes(next, 'approved');
  expect(slack.calls.filter(({ method }) => method === 'users.info')).toHaveLength(asked);
});

test('commands are answered to that person alone', async () => {
  const id = await approval({ approvers: [app.owner.email] });
  await acme.command(owner, 'help');
  expect((await privately())[0]).toMatchObject({ only: owner.id, text: 'What /quayside can do' });
  acme.ephemerals.length = 0;
  await acme.command(owner, '  approvals ');
  const [list] = await privately();
  expect(list?.text).toMatch(/wait for your approval/);
  const approve = list?.buttons.find(({ value, text }) => value === id && text === 'Approve');
  expect(approve).toBeDefined();
  acme.ephemerals.length = 0;
  if (list && approve) await acme.send(acme.clickRequest(owner, list, approve));
  await becomes(id, 'approved');
  expect((await privately())[0]?.text).toMatch(/You approved .* It is approved/);
  acme.ephemerals.length = 0;
  await acme.command(member, 'approvals');
  expect((await privately())[0]?.text).toBe('Nothing waits for you.');
  acme.ephemerals.length = 0;
  await acme.command(member, 'where SHOP-12 <!channel>');
  const [unknown] = await privately();
  expect(unknown).toMatchObject({ mentions: [], text: 'No repository &lt;!channel&gt; is registered' });
  acme.ephemerals.length = 0;
  await acme.command(member, 'where SHOP-12');
  expect((await privately())[0]?.text).toBe('No commit mentions SHOP-12');
  acme.ephemerals.length = 0;
  await acme.command(member, 'dance');
  expect((await privately())[0]?.text).toMatch(/no command dance/);
});

test('a work item that was not looked for in every repository is not said to be nowhere', async () => {
  for (let n = 0; n < 21; n++)
    await app.as(app.owner).post(201, '/api/projects', { identifier: `acme/many-${n}`, platform: 'host-a' });
  acme.ephemerals.length = 0;
  await acme.command(member, 'where SHOP-12');
  expect((await privately())[0]?.text).toMatch(/^No commit mentions SHOP-12 in the first 20 of \d+ repositories;/);
});

test('a limit, a page and an absent Slack only delay', async () => {
  const zoe = acme.addUser('zoe', app.owner.email);
  const id = await approval();
  slack.fail({ kind: 'limit', method: 'users.info', retryAfter: 1 });
  slack.fail({ kind: 'html', method: 'users.info' });
  slack.fail({ kind: 'status', status: 503, method: 'users.info' });
  await click(zoe, id);
  await becomes(id, 'approved');
  slack.fail({ kind: 'status', status: 500, method: 'response_url' });
  await acme.command(zoe, 'help');
  await privately();
  await settled();
});

test('a review environment is extended for the person who has it, as the route allows', async () => {
  const { assign, orgs } = await reviewStage(app, { maxLeaseHours: 48 });
  const ask = async (text: string): Promise<string> => {
    acme.ephemerals.length = 0;
    await acme.command(member, text);
    return (await privately())[0]?.text ?? '';
  };
  expect(await ask('env extend')).toBe('You have no review environment.');
  await orgs(3);
  // This one is assigned to somebody else.
  await assign({}, 201, app.owner);
  const first = await assign({ assignmentType: 'user', assignmentId: app.member.email }, 201, app.member);
  const leaseOf = (id: string) => app.as(app.member).get(200, `/api/review/assignments/${id}`);
  const before = Date.now();
  expect(await ask('env extend 40')).toMatch(/^org-\d+@acme\.example\.com \(acme\/review-\d+\) is yours until \d{4}-/);
  const { expiresAt } = await leaseOf(first.id);
  expect(Date.parse(expiresAt)).toBeGreaterThan(before + 39 * 3_600_000);
  const [entry] = await app.sql<Json>(`select * from audit_entry where action like '%extended' and entity_id = ?`, [
    first.id,
  ]);
  expect(entry).toMatchObject({ actor_email: app.member.email });
  expect(await ask('env extend 700')).toMatch(/48/);
  expect((await leaseOf(first.id)).expiresAt).toBe(expiresAt);
  const second = await assign({}, 201, app.member);
  expect(await ask('env extend 8')).toBe('You have several review environments');
  expect(await ask(`env extend 8 ${second.assignmentId}`)).toContain('is yours until');
  expect(await ask('env extend 8 <!channel>')).toBe('You have no review environment &lt;!channel&gt;.');
});

test('an app that is removed makes its workspace inactive, once, and says so', async () => {
  const gone = await connectedWorkspace(app, slack, 'Gone');
  await app.as(app.owner).post(201, '/api/webhooks', {
    name: 'a',
    event: 'chat_workspace.disconnected',
    config: { url: 'http://127.0.0.1:9/' },
  });
  await app.sql(
    `update chat_workspace set connected_at = now() - interval '2 seconds', updated_at = now() + interval '1 hour' where team_id = ?`,
    [gone.teamId],
  );
  await gone.uninstall();
  await gone.revokeTokens();
  const shown = () => app.as(app.member).get(200, `/api/slack/workspace?team_id=${gone.teamId}`);
  expect(await eventually(shown, ({ is_active }) => is_active === false)).toMatchObject({ team_name: 'Gone' });
  await settled();
  const entries = await app.sql<Json>(`select * from audit_entry where action = 'chat_workspace.disconnected'`);
  expect(entries).toEqual([expect.objectContaining({ source: 'slack', actor_email: 'system:chat' })]);
  expect(await app.sql(`select 1 from webhook_delivery where event = 'chat_workspace.disconnected'`)).toHaveLength(1);
  // Connected again; a message of before is late.
  gone.isRevoked = false;
  await app.as(app.owner).post(201, '/api/slack/workspace', gone.connection);
  const late = gone.eventRequest({ type: 'app_uninstalled' });
  await app.sql(`update chat_workspace set connected_at = now() + interval '5 seconds' where team_id = ?`, [
    gone.teamId,
  ]);
  await gone.send(late);
  await settled();
  expect(await shown()).toMatchObject({ is_active: true });
});

test('an approval of another tenant is not known', async () => {
  await app.as(app.stranger).post(201, '/api/projects', { identifier: 'other/shop', platform: 'host-a' });
  const [tenant] = await app.sql<{ id: string }>(`select id from tenant where slug = 'other'`);
  const tenantKey = { tenantId: tenant?.id ?? '', tenantSlug: 'other' };
  const runId = await insertRun(
    { db: app.db, tenantKey },
    { repositoryIdentifier: 'other/shop', requestedBy: app.stranger.email, taskType: 'request-freeze-users' },
  );
  const { approvalId } = await createApprovalActivities(activities.deps).openApproval({ ...tenantKey, runId });
  await click(owner, approvalId);
  expect((await privately())[0]?.text).toMatch(/approval was not found/);
  expect(await app.sql('select status from approval where id = ?', [approvalId])).toEqual([{ status: 'requested' }]);
});

test('secrets and addresses for answers are in no history, trail or finished row', async () => {
  const histories = (await historiesOf(app, 'webhooks-v1')).join('\n');
  expect(histories).toContain('chat-lane');
  const shown = histories + JSON.stringify(await app.sql('select * from audit_entry'));
  for (const secret of [acme.botToken, acme.appToken, acme.signingSecret, '/actions/'])
    expect(shown).not.toContain(secret);
  expect(await app.sql(`select 1 from chat_action where response_url is not null and status <> 'pending'`)).toEqual([]);
});
