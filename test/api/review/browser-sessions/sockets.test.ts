import { once } from 'node:events';
import type { WebSocket } from 'ws';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { cookieOf, fromOwnPage } from '../../../support/browser-session.ts';
import { SESSIONS_PATH, type SessionStage, sessionStage } from '../../../support/browser-sessions.ts';
import type { Bearer } from '../../../support/client.ts';
import { hostTokensOf, type SessionHost, sessionHost, openSocket } from '../../../support/host-server.ts';
import { engineAway } from '../../../support/launch.ts';
import { rawConnection } from '../../../support/raw-http.ts';
import { eventually } from '../../../support/worker.ts';

const said = { logs: [] as string[], problems: [] as string[] };
const ORIGIN = 'http://quayside.test';
let app: TestApp;
let stage: SessionStage;
let host: SessionHost;
let session: { id: string };
let ownerId: string;
/** Whether the time of a connection is up as soon as it was let in. */
let isTimeUp = false;
/** The sockets at the host, with what they were let in for. */
const served: { socket: WebSocket; asks: string; email: string }[] = [];

beforeAll(async () => {
  app = await testApp({ launch: engineAway, said });
  stage = await sessionStage(app);
  const echo = (socket: WebSocket, { grant }: { grant: { asks: string; by: { email: string }; until: Date } }) => {
    if (isTimeUp) grant.until = new Date();
    served.push({ socket, asks: grant.asks, email: grant.by.email });
    socket.on('message', (data: Buffer, isBinary) => socket.send(data, { binary: isBinary }));
  };
  host = await sessionHost(app, { onLive: echo, onConnect: echo });
  session = await host.allocate(stage);
  ownerId = (await app.as(app.owner).get(200, '/api/users/me')).id;
});
afterAll(async () => {
  await app.close();
  await host.close();
});

const lastServed = () => {
  const last = served.at(-1);
  if (!last) throw new Error('no socket has come to the host');
  return last;
};
const livePath = (id = session.id, query = '') => `/browser-sessions/${id}/live/socket${query}`;
const bearer = ({ token }: Bearer) => ({ authorization: `Bearer ${token}` });
const openLive = (caller: Bearer, path = livePath()) => openSocket(app, path, bearer(caller));
const connectToken = (changes: object = {}) =>
  hostTokensOf(app).sign(
    {
      hostId: host.id,
      sessionId: session.id,
      asks: 'connect',
      by: { type: 'user', id: ownerId, ...app.tenantKey, role: 'owner', email: 'ada@acme.example' },
      linkId: null,
      until: new Date(Date.now() + 600_000),
      ...changes,
    },
    new Date(),
  );
const connectPath = async (changes: object = {}) =>
  `/browser-sessions/${session.id}/connect/socket?token=${await connectToken(changes)}`;
const echoed = async (socket: WebSocket, data: string | Buffer): Promise<Buffer> => {
  const answer = once(socket, 'message');
  socket.send(data);
  const [message] = await answer;
  return message as Buffer;
};
const signInCookie = async (): Promise<string> => {
  const answer = await app.as().request(200, 'POST', '/api/auth/sign-in', {
    rawBody: new URLSearchParams({ email: app.owner.email, password: app.owner.password }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...fromOwnPage() },
  });
  return cookieOf(answer, '__Host-qs_session');
};

test('sockets are passed on to the host, both ways, large messages too', async () => {
  const socket = await openLive(app.member);
  expect(lastServed()).toMatchObject({ asks: 'watch', email: app.member.email });
  expect((await echoed(socket, 'text')).toString()).toBe('text');
  const large = Buffer.alloc(1_000_000, 7);
  expect((await echoed(socket, large)).equals(large)).toBe(true);
  socket.close(4000, 'enough');
  await expect(once(lastServed().socket, 'close')).resolves.toEqual([4000, Buffer.from('enough')]);
});

test('who may change the session may control it, others only watch', async () => {
  for (const [caller, query, asks] of [
    [app.owner, '?mode=control', 'control'],
    [app.owner, '', 'watch'],
    [app.member, '?mode=control', 'watch'],
  ] as const) {
    const socket = await openLive(caller, livePath(session.id, query));
    expect(lastServed()).toMatchObject({ asks });
    socket.terminate();
  }
});

test('a page of this service opens it with the session cookie, a page of another site does not', async () => {
  const cookie = await signInCookie();
  const socket = await openSocket(app, livePath(), { cookie, origin: ORIGIN });
  socket.terminate();
  await expect(openSocket(app, livePath(), { cookie, origin: 'https://evil.example' })).rejects.toThrow(/^403 /);
  await expect(openSocket(app, livePath(), { cookie })).rejects.toThrow(/^401 /);
  await expect(openSocket(app, livePath(), { ...bearer(app.owner), origin: 'https://evil.example' })).rejects.toThrow(
    /^403 /,
  );
});

test('without a credential 401; sessions of others, unknown ones and other paths 404', async () => {
  await expect(openSocket(app, livePath())).rejects.toThrow(/^401 /);
  await expect(openLive(app.stranger)).rejects.toThrow(/^404 /);
  await expect(openLive(app.owner, livePath(newId()))).rejects.toThrow(/^404 /);
  await expect(openLive(app.owner, livePath('x'))).rejects.toThrow(/^404 /);
  await expect(openLive(app.owner, `/browser-sessions/${session.id}/other/socket`)).rejects.toThrow(/^404 /);
  const limited = await app.as(app.owner).post(201, '/api/application-tokens', {
    name: 'limited',
    projects: [stage.repositoryIdentifier],
  });
  (await openLive(limited)).terminate();
  const other = await host.allocate(await sessionStage(app));
  await expect(openLive(limited, livePath(other.id))).rejects.toThrow(/^404 /);
});

test('upgrades that are refused keep nobody else out, however long their senders stay', async () => {
  const refused = await Promise.all(
    Array.from({ length: 260 }, async () => {
      const connection = rawConnection(app.url);
      connection.write(
        `GET ${livePath()} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      );
      await connection.answer();
      return connection;
    }),
  );
  (await openLive(app.owner)).terminate();
  for (const { socket } of refused) socket.destroy();
});

test('upgrades are counted by their address, whatever stands in their cookie', async () => {
  const limited = await testApp({ launch: engineAway, env: { RATE_LIMIT_PER_MINUTE: '3' } });
  const junk = (count: number) =>
    openSocket(limited, livePath(newId()), { cookie: `__Host-qs_live=junk-${count}`, origin: ORIGIN });
  for (const count of [1, 2, 3]) await expect(junk(count)).rejects.toThrow(/^404 /);
  await expect(junk(4)).rejects.toThrow(/^429 /);
  await limited.close();
});

test('sessions that are not live: 409; without a host that is alive: 503; a host that is away: 502', async () => {
  const ended = await host.allocate(stage);
  await app.sql(`update browser_session set status = 'ended' where id = ?`, [ended.id]);
  await expect(openLive(app.owner, livePath(ended.id))).rejects.toThrow(/^409 /);
  const gone = await host.allocate(stage);
  gone.end({ reason: 'browser_closed', detail: null });
  await expect(openLive(app.owner, livePath(gone.id))).rejects.toThrow(/^404 /);

  const away = await sessionHost(app, {});
  const lost = await away.allocate(stage);
  await away.close();
  await expect(openLive(app.owner, livePath(lost.id))).rejects.toThrow(/^502 .*cannot be reached/);
  await app.sql(`update browser_host set seen_at = now() - interval '1 minute' where id = ?`, [away.id]);
  await expect(openLive(app.owner, livePath(lost.id))).rejects.toThrow(/^503 /);
});

test('a token connects once, to its session and for what it says', async () => {
  const path = await connectPath();
  const socket = await openSocket(app, path);
  expect(lastServed()).toMatchObject({ asks: 'connect', email: 'ada@acme.example' });
  await expect(openSocket(app, path)).rejects.toThrow(/^401 .*used before/);
  expect((await echoed(socket, 'still open')).toString()).toBe('still open');
  socket.terminate();
  await expect(openSocket(app, await connectPath(), { origin: 'https://evil.example' })).rejects.toThrow(/^403 /);
  await expect(openSocket(app, await connectPath({ asks: 'control' }))).rejects.toThrow(/^401 /);
  await expect(openSocket(app, await connectPath({ hostId: newId() }))).rejects.toThrow(/^503 /);
  const token = await connectToken({ sessionId: newId() });
  const elsewhere = `/browser-sessions/${session.id}/connect/socket?token=${token}`;
  await expect(openSocket(app, elsewhere)).rejects.toThrow(/^404 /);
  await expect(
    openSocket(app, `/browser-sessions/${session.id}/connect/socket?token=${app.owner.token}`),
  ).rejects.toThrow(/^401 /);
  await app.as({ token }).get(401, SESSIONS_PATH);
});

test('when one side closes, the other does, and the session ends all of its sockets', async () => {
  const ending = await host.allocate(stage);
  const socket = await openLive(app.owner, livePath(ending.id));
  const closed = once(socket, 'close');
  ending.end({ reason: 'expired', detail: null });
  await expect(closed).resolves.toEqual([1001, Buffer.from('The session has ended')]);

  const lost = await openLive(app.owner);
  const lostClosed = once(lost, 'close');
  lastServed().socket.terminate();
  await expect(lostClosed).resolves.toMatchObject([1006, Buffer.alloc(0)]);

  const left = await openLive(app.owner);
  const leftClosed = once(lastServed().socket, 'close');
  left.terminate();
  await expect(leftClosed).resolves.toMatchObject([1006, Buffer.alloc(0)]);
  isTimeUp = true;
  const until = await openSocket(app, await connectPath());
  isTimeUp = false;
  await expect(once(until, 'close')).resolves.toEqual([4408, Buffer.from('The time of this connection is up')]);
});

test('messages of more than 1 MB close the socket', async () => {
  const socket = await openLive(app.owner);
  const closed = once(socket, 'close');
  socket.send(Buffer.alloc(1_048_577));
  await expect(closed).resolves.toMatchObject([1009, expect.anything()]);
});

test('a caller has ten sockets of a session at most, which keep nobody else out', async () => {
  const crowded = await host.allocate(stage);
  const open = await Promise.all(Array.from({ length: 10 }, () => openLive(app.owner, livePath(crowded.id))));
  await expect(openLive(app.owner, livePath(crowded.id))).rejects.toThrow(/^429 /);
  open.push(await openLive(app.member, livePath(crowded.id)));
  open.shift()?.terminate();
  const next = await eventually(
    () => openLive(app.owner, livePath(crowded.id)).catch(() => undefined),
    (found) => found !== undefined,
  );
  for (const socket of [...open, next]) socket?.terminate();
});

test('requests for sockets that are malformed are refused, and other upgrades are ordinary requests', async () => {
  const head = (path: string, more: string) =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nAuthorization: Bearer ${app.owner.token}\r\n${more}\r\n`;
  const send = async (text: string) => {
    const connection = rawConnection(app.url);
    connection.write(text);
    const answer = await connection.answer();
    connection.socket.destroy();
    return answer.status;
  };
  expect(await send(head(livePath(), 'Upgrade: websocket\r\n'))).toBe(400);
  expect(await send(head(livePath(), 'Upgrade: websocket\r\nHost: y\r\n'))).toBe(400);
  expect(await send(head(livePath(), 'Upgrade: h2c\r\n'))).toBe(404);
  expect(await send(head(SESSIONS_PATH, 'Upgrade: h2c\r\n'))).toBe(200);
});

test('the log names the route, and neither the token nor the session cookie', () => {
  const lines = said.logs.filter((line) => line.includes('/socket'));
  expect(lines.some((line) => line.includes('"route":"/browser-sessions/{id}/connect/socket","status":101'))).toBe(
    true,
  );
  expect(said.logs.join('')).not.toContain('token=');
  expect(said.logs.join('')).not.toMatch(/eyJ[\w-]{20}/);
});
