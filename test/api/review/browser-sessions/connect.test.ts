import { once } from 'node:events';
import type { WebSocket } from 'ws';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { SESSIONS_PATH as PATH, type SessionStage, sessionStage } from '../../../support/browser-sessions.ts';
import type { Bearer, Json } from '../../../support/client.ts';
import { type SessionHost, sessionHost, openSocket } from '../../../support/host-server.ts';
import { engineAway } from '../../../support/launch.ts';

let app: TestApp;
let stage: SessionStage;
let host: SessionHost;
let session: { id: string };
const came: { email: string; until: Date }[] = [];

beforeAll(async () => {
  app = await testApp({ launch: engineAway, env: { PUBLIC_URL: 'https://quayside.example.com' } });
  stage = await sessionStage(app);
  host = await sessionHost(app, {
    onConnect(socket: WebSocket, { grant }) {
      came.push({ email: grant.by.email, until: grant.until });
      socket.resume();
    },
  });
  session = await host.allocate(stage);
});
afterAll(async () => {
  await app.close();
  await host.close();
});

const connect = (status: number, id: string, caller: Bearer = app.owner): Promise<Json> =>
  app.as(caller).post(status, `${PATH}/${id}/connect`);
const pathOf = ({ url }: { url: string }): string => url.replace(/^wss:\/\/quayside\.example\.com/, '');

test('the address connects once, within a minute, until the session ends at the latest', async () => {
  const { url, expiresAt } = await connect(200, session.id);
  expect(url).toMatch(
    new RegExp(`^wss://quayside\\.example\\.com/browser-sessions/${session.id}/connect/socket\\?token=[\\w.-]+$`),
  );
  const inMs = Date.parse(expiresAt) - Date.now();
  expect(inMs > 0 && inMs <= 60_000).toBe(true);
  const socket = await openSocket(app, pathOf({ url }));
  expect(came.at(-1)?.email).toBe(app.owner.email);
  const { createdAt }: Json = await stage.read(session.id);
  expect(came.at(-1)?.until.getTime()).toBe(Math.floor(Date.parse(createdAt) / 1_000) * 1_000 + 3_600_000);
  await expect(openSocket(app, pathOf({ url }))).rejects.toThrow(/^401 .*used before/);
  socket.terminate();
});

test('each address is noted in the trail and in the timeline, without its token', async () => {
  const { url } = await connect(200, session.id, app.application);
  const { timeline }: Json = await stage.read(session.id);
  expect(timeline[0]).toMatchObject({ kind: 'connect_created', by: 'app:ci', data: {} });
  const query = new URLSearchParams({ repositoryIdentifier: stage.repositoryIdentifier, action: 'browser_session' });
  const { items }: Json = await app.as(app.owner).get(200, `/api/audit?${query}`);
  expect(items[0]).toMatchObject({
    action: 'browser_session.connect_created',
    source: 'browser',
    after: { hostId: host.id },
  });
  expect(JSON.stringify([timeline, items])).not.toContain(new URL(url).searchParams.get('token'));
});

test('members connect to their own sessions, others of the tenant do, and nobody else', async () => {
  await expect(connect(403, session.id, app.member)).resolves.toMatchObject({ code: 'forbidden' });
  const own = await stage.record(await stage.pullRequest(), {}, 202, app.member);
  await app.sql(`update browser_session set status = 'live', host_id = ? where id = ?`, [host.id, own.id]);
  await connect(200, own.id, app.member);
  await connect(200, own.id, app.owner);
  await connect(404, session.id, app.stranger);
  await connect(404, newId());
  const limited = await app.as(app.owner).post(201, '/api/application-tokens', {
    name: 'limited',
    projects: [stage.repositoryIdentifier],
  });
  await connect(200, session.id, limited);
  const elsewhere = await host.allocate(await sessionStage(app));
  await connect(404, elsewhere.id, limited);
});

test('automation ends soon after its token was revoked, and connects no more', async () => {
  const { id, token } = await app.as(app.owner).post(201, '/api/application-tokens', { name: 'automation' });
  const [first, second] = [await connect(200, session.id, { token }), await connect(200, session.id, { token })];
  const socket = await openSocket(app, pathOf(first as { url: string }));
  const closed = once(socket, 'close');
  await app.as(app.owner).delete(204, `/api/application-tokens/${id}`);
  await closed;
  await expect(openSocket(app, pathOf(second as { url: string }))).rejects.toThrow(/^403 /);
});

test('automation of somebody who signed out ends', async () => {
  const own = await connect(200, session.id, app.owner);
  const socket = await openSocket(app, pathOf(own as { url: string }));
  const closed = once(socket, 'close');
  await app.sql(
    'update auth_session set revoked_at = now() where user_id = (select id from user_account where email = ?)',
    [app.owner.email],
  );
  await closed;
  await app.sql('update auth_session set revoked_at = null');
});

test('sessions that are not live: 409; of another provider: 400; on a host that sends no heartbeat: 503', async () => {
  const provisioning = await stage.record(await stage.pullRequest());
  const refused = await connect(409, provisioning.id);
  expect(refused.detail).toContain('provisioning');
  const hosted = await host.allocate(stage);
  await app.sql(`update browser_session set provider = 'browserbase' where id = ?`, [hosted.id]);
  await expect(connect(400, hosted.id)).resolves.toMatchObject({
    code: 'invalid_request',
    detail: expect.stringContaining('browserbase'),
  });
  const silent = await sessionHost(app, {});
  const lost = await silent.allocate(stage);
  await app.sql(`update browser_host set seen_at = now() - interval '1 minute' where id = ?`, [silent.id]);
  await connect(503, lost.id);
  await silent.close();
});
