import { ENCRYPTED_COLUMNS } from '../../../../domain/areas.ts';
import { type SlackSimulator, slackSimulator } from '../../../simulators/slack/slack.ts';
import type { SlackWorkspace } from '../../../simulators/slack/workspace.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { engineAway } from '../../../support/launch.ts';

let slack: SlackSimulator;
let app: TestApp;
let workspace: SlackWorkspace;
beforeAll(async () => {
  slack = await slackSimulator();
  app = await testApp({ launch: engineAway, env: { SLACK_API_URL: slack.apiUrl } });
});
afterAll(async () => {
  await app.close();
  await slack.close();
});
beforeEach(async () => {
  slack.heal();
  await app.sql('delete from chat_workspace');
  workspace = slack.addWorkspace('Acme');
});

const connect = (given: SlackWorkspace = workspace, more: object = {}) =>
  app.as(app.owner).post(201, '/api/slack/workspace', { ...given.connection, ...more });
const testOf = (query = '') => app.as(app.member).get(200, `/api/slack/test${query}`);

test('a workspace that two requests connect at once is connected once', async () => {
  const saved = await Promise.all([connect(), connect(workspace, { team_name: 'Again' }), connect()]);
  expect(new Set(saved.map(({ workspace: { id } }) => id)).size).toBe(1);
});

test('a workspace is connected, read, changed and disconnected; nothing is called', async () => {
  const before = slack.calls.length;
  const saved = await connect();
  expect(saved).toEqual({
    success: true,
    workspace: { id: expect.any(String), team_id: workspace.teamId, team_name: 'Acme' },
  });
  const shown = await app.as(app.member).get(200, '/api/slack/workspace');
  expect(shown).toEqual({
    id: saved.workspace.id,
    team_id: workspace.teamId,
    team_name: 'Acme',
    app_id: null,
    app_name: null,
    bot_user_id: null,
    is_active: true,
    created_at: expect.any(String),
    updated_at: expect.any(String),
    created_by: app.owner.email,
    has_bot_token: true,
    has_app_token: true,
    has_signing_secret: true,
  });
  const changed = await app
    .as(app.owner)
    .patch(200, '/api/slack/workspace', { team_name: 'Acme Ltd', app_token: null, is_active: false });
  expect(changed).toMatchObject({ success: true, workspace: { team_name: 'Acme Ltd', has_app_token: false } });
  await app.as(app.member).get(404, '/api/slack/workspace');
  expect(await app.as(app.application).get(200, '/api/slack/workspaces')).toHaveLength(1);
  expect(await app.as(app.application).get(200, '/api/slack/workspaces?activeOnly=true')).toEqual([]);
  expect(await app.as(app.owner).delete(200, '/api/slack/workspace')).toEqual({
    success: true,
    message: `The chat workspace Acme Ltd (${workspace.teamId}) was disconnected`,
  });
  await app.as(app.owner).delete(404, '/api/slack/workspace');
  expect(slack.calls.length).toBe(before);
});

test('the same team is replaced: with its id, made active, without what is not given again', async () => {
  const first = await connect(workspace, { app_id: 'A1', app_name: 'Ours', bot_user_id: 'U1' });
  await app.as(app.owner).patch(200, '/api/slack/workspace', { is_active: false });
  const again = await connect(workspace, { app_token: null });
  expect(again.workspace.id).toBe(first.workspace.id);
  expect(await app.as(app.member).get(200, '/api/slack/workspace')).toMatchObject({
    is_active: true,
    app_id: null,
    has_app_token: false,
  });
});

test('of several, the newest active one is read, and one must be named to be changed', async () => {
  const other = slack.addWorkspace('Beta');
  await connect();
  await connect(other);
  expect(await app.as(app.member).get(200, '/api/slack/workspace')).toMatchObject({ team_id: other.teamId });
  expect(await app.as(app.member).get(200, `/api/slack/workspace?team_id=${workspace.teamId}`)).toMatchObject({
    team_id: workspace.teamId,
  });
  const owner = app.as(app.owner);
  expect(await owner.patch(409, '/api/slack/workspace', { team_name: 'x' })).toMatchObject({ code: 'ambiguous' });
  expect(await owner.delete(409, '/api/slack/workspace')).toMatchObject({ code: 'ambiguous' });
  await owner.patch(200, '/api/slack/workspace', { team_id: other.teamId, team_name: 'Gamma' });
  await owner.delete(200, `/api/slack/workspace?team_id=${other.teamId}`);
  expect(await owner.get(200, '/api/slack/workspace')).toMatchObject({ team_id: workspace.teamId });
});

test.each([
  ['bot_token', { bot_token: 'xoxp-of-a-person' }],
  ['app_token', { app_token: 'xoxb-1' }],
  ['signing_secret', { signing_secret: 'short' }],
  ['team_id', { team_id: 'C0123' }],
  ['team_name', { team_name: 'a\u0007b' }],
])('a malformed %s is refused', async (field, wrong) => {
  const reply = await app.as(app.owner).post(400, '/api/slack/workspace', { ...workspace.connection, ...wrong });
  expect(reply.errors).toEqual([expect.objectContaining({ pointer: `#/body/${field}` })]);
});

test('secrets are encrypted, and in no reply, audit entry or event', async () => {
  await connect();
  await app.as(app.owner).patch(200, '/api/slack/workspace', { bot_token: `${workspace.botToken}-2` });
  const [row] = await app.sql<Record<string, string>>('select * from chat_workspace');
  for (const column of ['bot_token', 'app_token', 'signing_secret']) {
    expect(row?.[column]).toMatch(/^v1\./);
    expect(ENCRYPTED_COLUMNS).toContainEqual(expect.objectContaining({ table: 'chat_workspace', column }));
  }
  const shown = JSON.stringify([
    await app.as(app.owner).get(200, '/api/slack/workspaces'),
    await app.sql(`select * from audit_entry where source = 'slack'`),
    row,
  ]);
  for (const secret of [workspace.botToken, workspace.appToken, workspace.signingSecret])
    expect(shown).not.toContain(secret);
  const entries = await app.sql<{ action: string }>(`select action from audit_entry where source = 'slack'`);
  expect(entries.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['chat_workspace.created', 'chat_workspace.updated']),
  );
});

test('a test finds out who the bot is, and fills in the app', async () => {
  await connect();
  expect(await testOf()).toEqual({
    success: true,
    message: 'Connected to Acme',
    details: { workspace_name: 'Acme', bot_name: 'quayside', bot_id: workspace.botId },
    error: null,
  });
  expect(await app.as(app.member).get(200, '/api/slack/workspace')).toMatchObject({
    app_id: workspace.appId,
    app_name: 'Quayside',
    bot_user_id: workspace.botUserId,
  });
});

test.each<[string, () => void, RegExp]>([
  ['a revoked token', () => (workspace.isRevoked = true), /revoked \(token_revoked\)/],
  ['a missing scope', () => (workspace.scopes = ['chat:write', 'commands']), /users:read, users:read\.email/],
  ['a limit', () => slack.fail({ kind: 'limit', retryAfter: 7 }), /no more calls for 7 s/],
  ['a page instead of JSON', () => slack.fail({ kind: 'html' }), /not the JSON/],
  ['a broken Slack', () => slack.fail({ kind: 'status', status: 503 }), /answered 503/],
  [
    'an unknown app token',
    () => slack.fail({ kind: 'error', error: 'invalid_auth', method: 'apps.connections.open' }),
    /app token does not work/,
  ],
])('%s is told with success: false', async (_, breakIt, sentence) => {
  await connect();
  breakIt();
  const reply = await testOf(`?team_id=${workspace.teamId}`);
  expect(reply).toMatchObject({ success: false, message: 'The workspace cannot be used' });
  expect(reply.error).toMatch(sentence);
  expect(JSON.stringify(reply)).not.toMatch(/html|xoxb|127\.0\.0\.1/);
});

test('a token of another workspace is told, and a workspace that is not there', async () => {
  const other = slack.addWorkspace('Beta');
  await connect(workspace, { bot_token: other.botToken });
  expect((await testOf()).error).toMatch(new RegExp(`belongs to the workspace Beta \\(${other.teamId}\\)`));
  await app.as(app.member).get(404, '/api/slack/test?team_id=T0NOBODY');
  await app.as(app.stranger).get(404, `/api/slack/workspace?team_id=${workspace.teamId}`);
  await app.as(app.stranger).delete(404, `/api/slack/workspace?team_id=${workspace.teamId}`);
});

test('the manifest names the scopes and the addresses of the tenant', async () => {
  const manifest = await app.as(app.member).get(200, '/api/slack/manifest');
  const others = await app.as(app.stranger).get(200, '/api/slack/manifest');
  expect(manifest.oauth_config.scopes.bot).toEqual(['chat:write', 'commands', 'users:read', 'users:read.email']);
  const url = manifest.settings.event_subscriptions.request_url as string;
  expect(url).toMatch(/^http:\/\/quayside\.test\/api\/slack\/inbound\/[0-9a-f-]{36}\/events$/);
  expect(others.settings.event_subscriptions.request_url).not.toBe(url);
});
