import type { IncomingMessage, ServerResponse } from 'node:http';
import { createBrowserbase } from '../../../../activities/adapters/browserbase/browserbase.ts';
import {
  type SessionOrder,
  type SessionRef,
  StartRefused,
} from '../../../../domain/review/browser-sessions/browser-provider.port.ts';
import { outboundAddresses } from '../../../../domain/kernel/outbound/outbound-addresses.ts';
import { type BrowserbaseSimulator, browserbaseSimulator } from '../../../simulators/browserbase/simulator.ts';

const FRONT_DOOR = 'https://org.example.com/secur/frontdoor.jsp?sid=secret';
/** To the page behind it a browser comes once more, from an empty one. */
const ANEW = ['about:blank', 'https://org.example.com/home'];
const signal = new AbortController().signal;
let simulator: BrowserbaseSimulator;
let apiKey: string | undefined;

beforeAll(async () => {
  simulator = await browserbaseSimulator();
});
beforeEach(() => {
  simulator.reset();
  apiKey = simulator.apiKey;
});
afterAll(async () => {
  await Promise.all([provider.close(), impatient.close()]);
  await simulator.close();
});

const providerWithin = (timeoutMs: number) =>
  createBrowserbase({
    outbound: outboundAddresses('127.0.0.0/8'),
    accessOf: async () =>
      apiKey === undefined ? undefined : { baseUrl: `${simulator.url}/`, apiKey, browserbaseProject: 'bb-project' },
    now: () => new Date(),
    timeoutMs,
    pace: 0.1,
  });
const provider = providerWithin(60_000);
/** For calls that are never answered. */
const impatient = providerWithin(1_000);

let made = 0;
const orderOf = (change: Partial<SessionOrder> = {}): SessionOrder => ({
  sessionId: `session-${++made}`,
  tenantId: 'tenant-1',
  projectId: 'project-1',
  startUrl: async () => new URL(FRONT_DOOR),
  viewport: { width: 1280, height: 720 },
  allowedHosts: [],
  expiresAt: new Date(Date.now() + 15 * 60_000),
  capAt: new Date(Date.now() + 60 * 60_000),
  isRecorded: true,
  ...change,
});
const refOf = ({ sessionId, tenantId, projectId }: SessionOrder, providerSessionId: string | null): SessionRef => ({
  sessionId,
  tenantId,
  projectId,
  providerSessionId,
});
const created = async (order = orderOf()) => {
  const answer = await provider.create(order, signal);
  if (!answer.isOk) throw new Error(answer.message);
  return refOf(order, answer.value.providerSessionId);
};

test('a session is created until the cap, kept alive, marked, and sent to the front door', async () => {
  const order = orderOf();
  const ref = await created(order);
  expect(simulator.sessions).toHaveLength(1);
  const [session] = simulator.sessions;
  expect(session).toMatchObject({
    id: ref.providerSessionId,
    visited: [FRONT_DOOR, ...ANEW],
    // The address of the front door is a secret: nobody finds it in the tab.
    history: ['https://org.example.com/home'],
    order: {
      projectId: 'bb-project',
      keepAlive: true,
      browserSettings: {
        viewport: { width: 1280, height: 720 },
        recordSession: true,
        logSession: false,
      },
      userMetadata: { quaysideSession: order.sessionId, quaysideTenant: 'tenant-1', quaysideProject: 'project-1' },
    },
  });
  expect(Number(session?.order.timeout)).toBeGreaterThan(3_590);
  expect(Number(session?.order.timeout)).toBeLessThanOrEqual(3_600);
});

test('hosts that are allowed beside the org do not keep the browser from the org', async () => {
  await created(orderOf({ allowedHosts: ['*.acme.example', 'login.acme.example'] }));
  expect(simulator.sessions).toMatchObject([{ visited: [FRONT_DOOR, ...ANEW] }]);
});

test('creating again answers the same session', async () => {
  const order = orderOf();
  const first = await created(order);
  const second = await created(order);
  expect(second).toEqual(first);
  expect(simulator.sessions).toHaveLength(1);
});

test.each(['lost', 'hang'] as const)(
  'a session whose creation was answered by %s is found by its mark',
  async (kind) => {
    const order = orderOf();
    simulator.next({ kind: 'slow', ms: 1 }, kind === 'lost' ? { kind } : { kind });
    expect(await (kind === 'hang' ? impatient : provider).create(order, signal)).toMatchObject({
      isOk: false,
      kind: kind === 'lost' ? 'unavailable' : 'timeout',
    });
    await created(order);
    expect(simulator.sessions).toHaveLength(1);
    expect(simulator.sessions[0]?.visited).toEqual([FRONT_DOOR, ...ANEW]);
  },
);

test('an org that is not opened ends the session that was created for it', async () => {
  const order = orderOf({ startUrl: async () => Promise.reject(new StartRefused('Log in to the org again')) });
  expect(await provider.create(order, signal)).toEqual({
    isOk: false,
    kind: 'front_door_refused',
    message: 'Log in to the org again',
  });
  expect(simulator.sessions).toMatchObject([{ status: 'COMPLETED', visited: [] }]);
});

test('a front door that leads nowhere ends the session', async () => {
  simulator.leadsOnTo = undefined;
  expect(await provider.create(orderOf(), signal)).toMatchObject({ isOk: false, kind: 'front_door_refused' });
  expect(simulator.sessions).toMatchObject([{ status: 'COMPLETED', visited: [FRONT_DOOR] }]);
});

test.each([
  [
    { kind: 'limited', retryAfter: 7 },
    { kind: 'limited', retryAfterMs: 7_000 },
  ],
  [{ kind: 'status', status: 402 }, { kind: 'rejected' }],
  [{ kind: 'status', status: 500 }, { kind: 'unavailable' }],
  [{ kind: 'html' }, { kind: 'unavailable' }],
  [{ kind: 'hang' }, { kind: 'timeout' }],
] as const)('%j is a failure of its kind', async (behavior, expected) => {
  simulator.next(behavior);
  const asked = behavior.kind === 'hang' ? impatient : provider;
  const answer = await asked.create(orderOf(), signal);
  expect(answer).toMatchObject({ isOk: false, ...expected });
  expect(JSON.stringify(answer)).not.toContain(simulator.apiKey);
});

test('a key that is refused, and a project without an integration', async () => {
  apiKey = 'another';
  expect(await provider.create(orderOf(), signal)).toMatchObject({ isOk: false, kind: 'auth_failed' });
  apiKey = undefined;
  expect(await provider.create(orderOf(), signal)).toMatchObject({ isOk: false, kind: 'auth_failed' });
});

test('an address inside is not called', async () => {
  const inside = createBrowserbase({
    outbound: outboundAddresses(''),
    accessOf: async () => ({ baseUrl: simulator.url, apiKey: simulator.apiKey }),
    now: () => new Date(),
    timeoutMs: 60_000,
  });
  expect(await inside.create(orderOf(), signal)).toMatchObject({ isOk: false, kind: 'rejected' });
  expect(simulator.requests).toEqual([]);
  await inside.close();
});

test.each([
  ['COMPLETED', { state: 'ended', reason: 'browser_closed', detail: null }],
  ['TIMED_OUT', { state: 'ended', reason: 'expired', detail: null }],
  ['ERROR', { state: 'ended', reason: 'provider_error', detail: 'Browserbase reports an error' }],
] as const)('a session that is %s has ended', async (status, expected) => {
  const ref = await created();
  expect(await provider.get(ref, signal)).toEqual({ isOk: true, value: { state: 'running' } });
  simulator.end(ref.providerSessionId ?? '', status);
  expect(await provider.get(ref, signal)).toEqual({ isOk: true, value: expected });
});

test('a session that the provider lost is not found, and counts as gone', async () => {
  const ref = await created();
  simulator.lose(ref.providerSessionId ?? '');
  expect(await provider.get(ref, signal)).toMatchObject({ isOk: false, kind: 'not_found' });
  expect(await provider.release(ref, signal)).toEqual({ isOk: true, value: { isGone: true } });
});

test('a release is repeated until the provider says that the session is gone', async () => {
  const ref = await created();
  simulator.always('POST /v1/sessions/', { kind: 'status', status: 500 });
  expect(await provider.release(ref, signal)).toMatchObject({ isOk: false, kind: 'unavailable' });
  expect(simulator.sessions[0]?.status).toBe('RUNNING');
  const { sessions } = simulator;
  const [kept] = sessions;
  simulator.reset();
  if (kept) simulator.sessions.push(kept);
  expect(await provider.release({ ...ref, providerSessionId: null }, signal)).toEqual({
    isOk: true,
    value: { isGone: true },
  });
  expect(simulator.sessions[0]?.status).toBe('COMPLETED');
  expect(await provider.release(ref, signal)).toEqual({ isOk: true, value: { isGone: true } });
});

test('sessions that bear our mark are those of the tenant and project that run', async () => {
  const ref = await created();
  await created(orderOf({ tenantId: 'tenant-2' }));
  await created(orderOf({ projectId: 'project-2' }));
  const ended = await created();
  simulator.end(ended.providerSessionId ?? '', 'COMPLETED');
  const owner = { tenantId: 'tenant-1', projectId: 'project-1' };
  expect(await provider.marked(owner, signal)).toEqual({ isOk: true, value: [ref] });
});

describe('a playlist that has moved', () => {
  const playlistOf = (request: IncomingMessage, response: ServerResponse) => {
    keysSeen.push(request.headers['x-bb-api-key']);
    response.writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' }).end('#EXTM3U\nsegment-0.m4s\n');
  };
  const keysSeen: unknown[] = [];
  const read = async () => provider.playlist(await created(), '0', signal);
  /** The next request to the interface is that for the playlist. */
  const readMoved = async (to: string) => {
    const ref = await created();
    simulator.next({ kind: 'moved', to });
    return provider.playlist(ref, '0', signal);
  };

  test('is read where it is, and without the key', async () => {
    simulator.serve('/moved/playlist.m3u8', playlistOf);
    simulator.serve('/once', (_, response) => response.writeHead(302, { location: '/moved/playlist.m3u8' }).end());
    const address = `${simulator.cdnUrl}/moved/playlist.m3u8`;
    for (const to of [address, `${simulator.cdnUrl}/once`])
      expect(await readMoved(to)).toMatchObject({ isOk: true, value: { address } });
    expect(keysSeen).toEqual([undefined, undefined]);
  });

  test('is read with the key where the interface itself has it', async () => {
    const ref = await created();
    simulator.next({ kind: 'moved', to: `/v1/sessions/${ref.providerSessionId}/replays/0?again` });
    expect(await provider.playlist(ref, '0', signal)).toMatchObject({
      isOk: true,
      value: { address: expect.stringContaining(`${simulator.url}/v1/sessions/`) },
    });
  });

  test.each([
    ['an address inside', 'http://169.254.169.254/latest/'],
    ['no address of the web', 'file:///etc/passwd'],
    ['one without a place', 'http://'],
  ])('is not read at %s', async (_, to) => {
    expect(await readMoved(to)).toMatchObject({ isOk: false, kind: 'rejected' });
  });

  test('is looked for at four addresses at most', async () => {
    let asked = 0;
    simulator.serve('/round', (_, response) => {
      asked++;
      response.writeHead(302, { location: '/round' }).end();
    });
    expect(await readMoved(`${simulator.cdnUrl}/round`)).toMatchObject({ isOk: false, kind: 'rejected' });
    expect(asked).toBe(3);
    expect(await read()).toMatchObject({ isOk: true });
  });

  test('is another matter than a session that has: that is not followed', async () => {
    simulator.next({ kind: 'moved', to: `${simulator.cdnUrl}/v1/sessions` });
    expect(await provider.create(orderOf(), signal)).toMatchObject({ isOk: false, kind: 'rejected' });
  });
});

test('live view, replays and playlist', async () => {
  const ref = await created();
  expect(await provider.liveView(ref, signal)).toMatchObject({
    value: { kind: 'frame', url: expect.stringContaining('/devtools-fullscreen/') },
  });
  expect(await provider.replays(ref, signal)).toMatchObject({ value: { state: 'recording', pages: [] } });
  simulator.end(ref.providerSessionId ?? '', 'COMPLETED');
  expect(await provider.replays(ref, signal)).toMatchObject({
    value: { state: 'ready', pages: [{ pageId: '0', title: '', startTimeMs: expect.any(Number) }] },
  });
  const playlist = await provider.playlist(ref, '0', signal);
  expect(playlist).toMatchObject({
    value: { address: expect.stringContaining(`/v1/sessions/${ref.providerSessionId}/replays/0`) },
  });
  expect(playlist.isOk && playlist.value.body.toString()).toContain(`${simulator.cdnUrl}/segment-1.m4s?Signature=abc`);
  expect(await provider.playlist(ref, '1', signal)).toMatchObject({ isOk: false, kind: 'not_found' });
  simulator.next({ kind: 'status', status: 302 });
  expect(await provider.playlist(ref, '0', signal)).toMatchObject({
    kind: 'rejected',
    message: expect.stringContaining('302'),
  });
  simulator.next({ kind: 'html' });
  expect(await provider.playlist(ref, '0', signal)).toMatchObject({ isOk: false, kind: 'unavailable' });
});

test('a recording that is gone is told apart from a session that is, and from one that never was', async () => {
  const ref = await created();
  simulator.end(ref.providerSessionId ?? '', 'COMPLETED');
  simulator.always(`GET /v1/sessions/${ref.providerSessionId}/replays`, { kind: 'status', status: 410 });
  expect(await provider.replays(ref, signal)).toMatchObject({
    kind: 'in_progress',
    message: expect.stringContaining('no recording'),
  });
  simulator.lose(ref.providerSessionId ?? '');
  expect(await provider.replays(ref, signal)).toMatchObject({ kind: 'not_found' });
  expect(await provider.replays({ ...ref, providerSessionId: null }, signal)).toMatchObject({ kind: 'not_found' });
});
