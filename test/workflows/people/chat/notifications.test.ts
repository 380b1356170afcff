import { createApprovalActivities } from '../../../../activities/delivery/approvals/approvals.activities.ts';
import { chatLanesSweep } from '../../../../activities/people/chat/chat-lanes.sweep.ts';
import { runSweep } from '../../../../activities/kernel/system/run-sweep.ts';
import { type SlackSimulator, slackSimulator } from '../../../simulators/slack/slack.ts';
import type { SlackMessage, SlackUser, SlackWorkspace } from '../../../simulators/slack/workspace.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { connectedWorkspace } from '../../../support/chat.ts';
import type { Json } from '../../../support/client.ts';
import { insertRun } from '../../../support/factories.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const repositoryIdentifier = 'acme/shop';
let slack: SlackSimulator;
let app: TestApp;
let worker: TestWorker;
let activities: ReturnType<typeof activityDeps>;
let acme: SlackWorkspace;
let owner: SlackUser;
beforeAll(async () => {
  slack = await slackSimulator();
  app = await testApp({ env: { SLACK_API_URL: slack.apiUrl } });
  worker = await startWorker(app, ['approvals-v1', 'webhooks-v1']);
  activities = activityDeps(app);
  await app.as(app.owner).post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  acme = await connectedWorkspace(app, slack, 'Acme');
  owner = acme.addUser('owner', app.owner.email);
});
afterAll(async () => {
  await worker.stop();
  await activities.close();
  await app.close();
  await slack.close();
});
beforeEach(() => slack.heal());

let channels = 0;
/** A webhook to a channel of its own. */
async function notify(event: string, more: object = {}, config: object = {}): Promise<{ id: string; channel: string }> {
  const channel = acme.addChannel(`C0NOTE${++channels}`);
  const body = { name: 'chat', event, provider: 'slack', retryDelay: 100, config: { channel, ...config }, ...more };
  const { id } = await app.as(app.owner).post(201, '/api/webhooks', body);
  return { id, channel };
}
const trigger = (event: string, payload: object) =>
  app.as(app.application).post(202, '/api/webhooks/trigger', { event, payload });
const posted = (channel: string, count = 1): Promise<SlackMessage[]> =>
  eventually(
    async () => acme.messages.filter((each) => each.channel === channel),
    (messages) => messages.length >= count,
  );
const deliveries = (id: string, status: string): Promise<Json> =>
  eventually(
    () => app.as(app.owner).get(200, `/api/webhooks/${id}/deliveries?status=${status}`),
    (page) => page.deliveries.length > 0,
  );

test('a webhook with provider slack has a channel instead of an address', async () => {
  const create = (status: number, config: object, provider = 'slack') =>
    app.as(app.owner).post(status, '/api/webhooks', { name: 'a', event: 'release.published', provider, config });
  const webhook = await create(201, { channel: 'C0GENERAL', teamId: acme.teamId, filter: { 'data.domain': 'sales' } });
  expect(webhook).toMatchObject({ provider: 'slack', warnings: [] });
  expect(webhook.config).toEqual({
    channel: 'C0GENERAL',
    teamId: acme.teamId,
    filter: { 'data.domain': 'sales' },
    body: null,
  });
  const fieldOf = (reply: Json) => reply.errors.map(({ pointer }: Json) => pointer);
  expect(fieldOf(await create(400, {}))).toEqual(['#/body/config/channel']);
  expect(fieldOf(await create(400, { channel: '#general' }))).toEqual(['#/body/config/channel']);
  expect(fieldOf(await create(400, { channel: 'C1', url: 'http://127.0.0.1:9/' }))).toEqual(['#/body/config/url']);
  expect(fieldOf(await create(400, { channel: 'C1', headers: {} }))).toEqual(['#/body/config/headers']);
  expect(fieldOf(await create(400, { url: 'http://127.0.0.1:9/', channel: 'C1' }, 'http'))).toEqual([
    '#/body/config/channel',
  ]);
  expect(fieldOf(await create(400, {}, 'http'))).toEqual(['#/body/config/url']);
  const patch = (status: number, config: object) =>
    app.as(app.owner).patch(status, `/api/webhooks/${webhook.id}`, { config });
  expect((await patch(200, { channel: 'C0OTHER', teamId: null })).config).toMatchObject({ channel: 'C0OTHER' });
  expect(fieldOf(await patch(400, { url: 'http://127.0.0.1:9/' }))).toEqual(['#/body/config/url']);
  const plain = await create(201, { url: 'http://127.0.0.1:9/' }, 'http');
  const refused = await app.as(app.owner).patch(400, `/api/webhooks/${plain.id}`, { config: { channel: 'C1' } });
  expect(fieldOf(refused)).toEqual(['#/body/config/channel']);
  await app.as(app.owner).delete(204, `/api/webhooks/${webhook.id}`);
});

test('an event is a message, with dead mentions, and a delivery in the log like any other', async () => {
  const { id, channel } = await notify('release.published');
  const releaseName = '<!channel> 2026.03 <@U0BOSS> & more';
  await trigger('release.published', { repositoryIdentifier, domain: 'sales', releaseName });
  const [message] = await posted(channel);
  expect(message).toMatchObject({
    text: 'Release published: &lt;!channel&gt; 2026.03 &lt;@U0BOSS&gt; &amp; more',
    mentions: [],
  });
  const { deliveries: found } = await deliveries(id, 'delivered');
  const path = `/api/webhooks/${id}/deliveries/${found[0].id}/attempts`;
  const { text: shown } = await eventually(
    () => app.as(app.owner).request(200, 'GET', path),
    ({ text }) => text.length > 20,
  );
  expect(shown).toContain('chat.postMessage');
  for (const secret of [acme.botToken, acme.signingSecret]) expect(shown).not.toContain(secret);
});

test('a template is the text, or the blocks; its values are escaped', async () => {
  const text = await notify('drill.text', {}, { body: 'Drill *{{ data.name }}* <!here>' });
  const blocks = await notify(
    'drill.blocks',
    {},
    { body: '{"text": {{ data.name | json }}, "blocks": [{"type": "divider"}]}' },
  );
  await trigger('drill.text', { name: '<!channel> "x"' });
  await trigger('drill.blocks', { name: '<!channel> "x"' });
  expect(await posted(text.channel)).toMatchObject([{ text: 'Drill *&lt;!channel&gt; "x"* <!here>' }]);
  expect(await posted(blocks.channel)).toMatchObject([{ text: '&lt;!channel&gt; "x"', blocks: [{ type: 'divider' }] }]);
  const wrong = await notify('drill.wrong', {}, { body: '{ {{ data.name }}' });
  await trigger('drill.wrong', { name: 'x' });
  expect((await deliveries(wrong.id, 'failed')).deliveries[0].error).toMatch(/begins like JSON/);
});

test('an event that clients queue shows the approval as it is, and nothing to decide with where there is none', async () => {
  const id = await approval();
  const { channel } = await notify('approval.requested');
  const data = { id, taskType: 'docs build', status: 'requested', requestedBy: 'dana', repositoryIdentifier };
  await trigger('approval.requested', data);
  const [real] = await posted(channel);
  expect(real?.text).toMatch(/^Approval requested: \S+ in n\d+$/);
  expect(JSON.stringify(real)).not.toContain('docs build');
  await trigger('approval.requested', { ...data, repositoryIdentifier: 'acme/other' });
  await trigger('approval.requested', { ...data, id: '0198c5a0-7b3e-7000-8000-000000000001' });
  const [, ...others] = await posted(channel, 3);
  for (const { text, buttons } of others) {
    expect(text).toMatch(/^Approval requested: docs build/);
    expect(buttons).toEqual([]);
  }
});

test('limits, pages and trouble of Slack are retried; what it refuses is not', async () => {
  const { id, channel } = await notify('drill.retried', { timeout: 1_000, retryCount: 5 });
  for (const fault of [
    { kind: 'limit', retryAfter: 1 },
    { kind: 'html' },
    { kind: 'hang' },
    { kind: 'error', error: 'internal_error' },
  ] as const)
    slack.fail({ ...fault, method: 'chat.postMessage' });
  await trigger('drill.retried', { a: 1 });
  await posted(channel);
  const [delivered] = (await deliveries(id, 'delivered')).deliveries;
  // A limit only delays.
  expect(delivered.attempts ?? delivered.attemptCount).toBe(4);
  acme.channels.set(channel, { isMember: true, isArchived: true });
  await trigger('drill.retried', { a: 2 });
  const { error } = (await deliveries(id, 'failed')).deliveries[0];
  expect(error).toBe('The channel is archived (is_archived)');
});

test('a burst to a channel is delayed by the limits of Slack, without an attempt that counts', async () => {
  const { id, channel } = await notify('drill.burst', { retryCount: 0 });
  slack.isRateEnforced = true;
  for (const a of [1, 2, 3]) await trigger('drill.burst', { a });
  await posted(channel, 3);
  slack.isRateEnforced = false;
  const { deliveries: found } = await eventually(
    () => app.as(app.owner).get(200, `/api/webhooks/${id}/deliveries?status=delivered`),
    (page: Json) => page.deliveries.length === 3,
  );
  for (const each of found) expect(each.attempts ?? each.attemptCount).toBe(1);
});

test('a limit that Slack answers with status 200 is a limit like any other', async () => {
  const { id, channel } = await notify('drill.limited', { retryCount: 0 });
  slack.fail({ kind: 'error', error: 'ratelimited', method: 'chat.postMessage' });
  for (const a of [1, 2]) await trigger('drill.limited', { a });
  await posted(channel, 2);
  const { deliveries: found } = await eventually(
    () => app.as(app.owner).get(200, `/api/webhooks/${id}/deliveries?status=delivered`),
    (page: Json) => page.deliveries.length === 2,
  );
  for (const each of found) expect(each.attempts ?? each.attemptCount).toBe(1);
});

test('a token that Slack refuses makes its workspace inactive, once, until it is connected again', async () => {
  const other = await connectedWorkspace(app, slack, 'Void');
  other.addChannel('C0VOID');
  const ids = [];
  for (const _ of [1, 2]) ids.push(await notify('drill.void', {}, { channel: 'C0VOID', teamId: other.teamId }));
  other.isRevoked = true;
  await trigger('drill.void', {});
  for (const { id } of ids)
    expect((await deliveries(id, 'failed')).deliveries[0].error).toMatch(/The token was revoked|is not connected/);
  const shown = () => app.as(app.member).get(200, `/api/slack/workspace?team_id=${other.teamId}`);
  expect(await eventually(shown, ({ is_active }) => is_active === false)).toMatchObject({ team_name: 'Void' });
  const entries = await app.sql<Json>(`select * from audit_entry where action = 'chat_workspace.disconnected'`);
  expect(entries).toEqual([expect.objectContaining({ after: { isActive: false, reason: 'token_revoked' } })]);
  other.isRevoked = false;
  await app.as(app.owner).post(201, '/api/slack/workspace', other.connection);
  await trigger('drill.void', {});
  await eventually(
    async () => other.messages,
    (messages) => messages.length === 2,
  );
  await app.as(app.owner).delete(200, `/api/slack/workspace?team_id=${other.teamId}`);
});

test('without a connected workspace a delivery fails at once, and works when it is connected again', async () => {
  const other = await connectedWorkspace(app, slack, 'Beta');
  other.addChannel('C0BETA');
  const { id } = await notify('drill.team', {}, { channel: 'C0BETA', teamId: other.teamId });
  await app.as(app.owner).patch(200, '/api/slack/workspace', { team_id: other.teamId, is_active: false });
  await trigger('drill.team', {});
  expect((await deliveries(id, 'failed')).deliveries[0].error).toBe(
    `The chat workspace ${other.teamId} is not connected`,
  );
  await app.as(app.owner).post(201, '/api/slack/workspace', other.connection);
  await trigger('drill.team', {});
  await deliveries(id, 'delivered');
  expect(other.messages.map(({ channel }) => channel)).toEqual(['C0BETA']);
  await app.as(app.owner).delete(200, `/api/slack/workspace?team_id=${other.teamId}`);
});

let made = 0;
async function approval(policy: object = { approvers: [app.owner.email] }): Promise<string> {
  const { id: environmentId } = await app.as(app.owner).post(201, '/api/environments', {
    repositoryIdentifier,
    name: `n${++made}`,
    category: 'release',
    approvalPolicy: policy,
  });
  const runId = await insertRun(app, { repositoryIdentifier, requestedBy: app.member.email, environmentId });
  return (await createApprovalActivities(activities.deps).openApproval({ ...app.tenantKey, runId })).approvalId;
}
const messageOf = (channel: string, id: string) =>
  eventually(
    async () =>
      acme.messages.find((each) => each.channel === channel && each.buttons.some(({ value }) => value === id)),
    (found) => found !== undefined,
  ) as Promise<SlackMessage>;
const shows = (message: SlackMessage, word: string) =>
  eventually(
    async () => message,
    ({ text, buttons }) => text.startsWith(word) && buttons.length === 0,
  );

test('an approval is asked for with buttons, and its message is changed wherever it is decided', async () => {
  const { channel } = await notify('approval.requested');
  const clicked = await approval();
  const message = await messageOf(channel, clicked);
  expect(message.buttons.map(({ text }) => text)).toEqual(['Approve', 'Reject']);
  await eventually(
    () => app.sql('select 1 from chat_message where ts = ?', [message.ts]),
    (rows) => rows.length === 1,
  );
  await acme.click(owner, message, 'Approve');
  await shows(message, 'Approved: ');
  expect(JSON.stringify(message.blocks)).toContain(`Approved by ${app.owner.email}`);

  const byRoute = await approval();
  const second = await messageOf(channel, byRoute);
  await app.as(app.owner).post(200, `/api/flows/approvals/${byRoute}/reject`, { comment: 'not <!channel> today' });
  await shows(second, 'Rejected: ');
  expect(second.mentions).toEqual([]);

  const late = await approval({ approvers: [app.owner.email], expiresAfter: 'PT1S' });
  await shows(await messageOf(channel, late), 'Approval expired: ');

  const two = await approval({
    approvers: [app.owner.email, app.member.email],
    minApprovals: 2,
    allowSelfApproval: true,
  });
  const third = await messageOf(channel, two);
  await acme.click(owner, third, 'Approve');
  await eventually(
    async () => JSON.stringify(third.blocks),
    (blocks) => blocks.includes('1 of 2'),
  );
  expect(third.buttons).toHaveLength(2);
  await app.as(app.member).post(200, `/api/flows/approvals/${two}/approve`, {});
  await shows(third, 'Approved: ');
});

test('a message whose answer was lost is sent again; a click on the first changes both, and is answered', async () => {
  const { channel } = await notify('approval.requested');
  // The webhooks of other tests get it, too.
  slack.fail({ kind: 'lost', method: 'chat.postMessage', times: 100 });
  const id = await approval();
  await posted(channel);
  slack.heal();
  const [{ ts } = { ts: '' }] = await eventually(
    () => app.sql<{ ts: string }>('select ts from chat_message where approval_id = ? and channel = ?', [id, channel]),
    (rows) => rows.length === 1,
  );
  const [first, ...others] = await posted(channel, 2);
  const noted = others.find((message) => message.ts === ts);
  acme.ephemerals.length = 0;
  await acme.click(owner, first as SlackMessage, 'Approve');
  for (const message of [first, noted]) await shows(message as SlackMessage, 'Approved: ');
  const [answer] = await eventually(
    async () => acme.ephemerals,
    (messages) => messages.length > 0,
  );
  expect(answer?.text).toMatch(/^You approved .* It is approved\.$/);
});

test('a message that is sent while its approval is decided, or while Slack or the signal is away, is changed after all', async () => {
  const { channel } = await notify('approval.requested');
  slack.fail({ kind: 'limit', retryAfter: 1, method: 'chat.postMessage' });
  slack.fail({ kind: 'limit', retryAfter: 1, method: 'chat.postMessage' });
  const early = await approval();
  await app.as(app.owner).post(200, `/api/flows/approvals/${early}/approve`, {});
  const [first] = await posted(channel);
  await shows(first as SlackMessage, 'Approved: ');

  const id = await approval();
  const message = await messageOf(channel, id);
  slack.fail({ kind: 'html', method: 'chat.update' });
  slack.fail({ kind: 'limit', retryAfter: 1, method: 'chat.update' });
  await app.as(app.owner).post(200, `/api/flows/approvals/${id}/approve`, {});
  await shows(message, 'Approved: ');

  const lost = await approval();
  const unsignalled = await messageOf(channel, lost);
  await eventually(
    () => app.sql('select 1 from chat_message where ts = ?', [unsignalled.ts]),
    (rows) => rows.length === 1,
  );
  await app.sql(
    `update chat_message set wanted_revision = wanted_revision + 1, due_at = now() - interval '1 minute' where approval_id = ?`,
    [lost],
  );
  await runSweep(activities.deps, chatLanesSweep);
  await eventually(
    async () => unsignalled.edits,
    (edits) => edits > 0,
  );
});
