import { recordingKey } from '../../../../domain/review/browser-sessions/recordings/local-recordings.ts';
import { referencesOf } from '../../../../domain/review/browser-sessions/recordings/replay-references.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { type BrowserbaseSimulator, browserbaseSimulator } from '../../../simulators/browserbase/simulator.ts';
import { activityDeps } from '../../../support/activities.ts';
import { testApp, type TestApp } from '../../../support/app.ts';
import { idleEngine } from '../../../support/launch.ts';
import { RECORDED_AT, type RecordedSession, recordedSession } from '../../../support/recorded-session.ts';

const PLAYLIST_TYPE = 'application/vnd.apple.mpegurl';
const MEGABYTE = Buffer.alloc(1_048_576);
let app: TestApp;
let simulator: BrowserbaseSimulator;
let projectId: string;
let otherProjectId: string;
let environmentId: string;

beforeAll(async () => {
  simulator = await browserbaseSimulator();
  app = await testApp({
    launch: idleEngine,
    env: { BROWSER_PROVIDER_TIMEOUT_SECONDS: '2', OUTBOUND_ALLOW: '127.0.0.1/32' },
  });
  const owner = app.as(app.owner);
  const project = async (identifier: string) =>
    (await owner.post(201, '/api/projects', { identifier, platform: 'host-a' })).id as string;
  projectId = await project('acme/shop');
  otherProjectId = await project('acme/other');
  await owner.post(201, '/api/integrations', {
    kind: 'browser',
    name: 'Browsers',
    baseUrl: simulator.url,
    credentials: { type: 'token', token: simulator.apiKey },
  });
  const environment = { repositoryIdentifier: 'acme/shop', name: 'review', category: 'test' };
  environmentId = (await owner.post(201, '/api/environments', environment)).id;
});
beforeEach(() => simulator.reset());
afterAll(async () => {
  await app.close();
  await simulator.close();
});

/** A session with a recording of one page. */
const session = (given: Partial<RecordedSession> = {}) => recordedSession(app, { projectId, ...given });
const at = (id: string, rest = '') => `/api/browser-sessions/${id}/replays${rest}`;
/** The paths of the references in a playlist. */
const references = (playlist: string) =>
  [...playlist.matchAll(/http:\/\/quayside\.test(\/api\/browser-sessions\/[^"\n]+)/g)].map(([, path = '']) => path);
async function playlistOf(id: string) {
  const { text, headers } = await app.as(app.member).request(200, 'GET', at(id, '/0'));
  return { text, headers, paths: references(text) };
}
/** A session of the hosted provider that has ended. */
async function hosted(playlist?: string) {
  if (playlist !== undefined) simulator.playlist = playlist;
  const headers = { 'x-bb-api-key': simulator.apiKey };
  const created = await fetch(`${simulator.url}/v1/sessions`, { method: 'POST', headers, body: '{}' });
  const { id } = (await created.json()) as { id: string };
  simulator.end(id, 'COMPLETED');
  return session({ provider: 'browserbase', providerSessionId: id });
}

test('a local recording is listed, played and read in parts', async () => {
  const id = await session();
  const listed = await app.as(app.member).get(200, at(id));
  expect(listed).toEqual({
    state: 'ready',
    pageCount: 1,
    pages: [
      {
        pageId: '0',
        title: 'Shop',
        startTimeMs: Date.parse(RECORDED_AT),
        endTimeMs: null,
        url: `http://quayside.test${at(id, '/0')}`,
      },
    ],
  });
  const { text, headers, paths } = await playlistOf(id);
  expect(headers.get('content-type')).toBe(PLAYLIST_TYPE);
  expect(text).toMatch(/^#EXTM3U\n#EXT-X-MAP:URI="http/);
  expect(text).toMatch(/\n#EXT-X-ENDLIST\n$/);
  expect(text).not.toContain('segment-0');
  const segment = paths[1] ?? '';
  const whole = await app.as(app.member).request(200, 'GET', segment);
  expect(whole.text).toBe('0123456789');
  expect(whole.headers.get('content-type')).toBe('video/mp4');
  expect(whole.headers.get('x-content-type-options')).toBe('nosniff');
  const part = await app.as(app.member).request(206, 'GET', segment, { headers: { range: 'bytes=2-4' } });
  expect([part.text, part.headers.get('content-range'), part.headers.get('content-length')]).toEqual([
    '234',
    'bytes 2-4/10',
    '3',
  ]);
  const beyond = await app.as(app.member).request(416, 'GET', segment, { headers: { range: 'bytes=10-' } });
  expect([beyond.body.code, beyond.headers.get('content-range')]).toEqual(['range_not_satisfiable', 'bytes */10']);
  // The init segment was never written.
  await app.as(app.member).get(404, paths[0] ?? '');
});

test('the playlist of a session that is live grows, and is none at first', async () => {
  const id = await session({ recordingState: 'recording' });
  expect((await playlistOf(id)).text).not.toContain('ENDLIST');
  await app.objects.remove(recordingKey({ tenantId: app.tenant.id, sessionId: id }, 0, 'playlist.m3u8'));
  expect((await app.as(app.member).get(409, at(id, '/0'))).code).toBe('in_progress');
});

test.each([
  ['processing', 'local', 409],
  ['none', 'local', 404],
  ['expired', 'local', 404],
  ['recording', 'browserbase', 409],
  ['none', 'external', 404],
] as const)('a recording that is %s at %s is answered with %i', async (recordingState, provider, status) => {
  const id = await session({ recordingState, provider });
  expect((await app.as(app.member).get(200, at(id))).state).toBe(recordingState);
  await app.as(app.member).get(status, at(id, '/0'));
});

test.each([
  ['local', 409],
  ['browserbase', 409],
  ['external', 404],
] as const)('a session at %s that is provisioning is answered with %i', async (provider, status) => {
  const id = await session({ recordingState: 'none', provider });
  await app.sql(`update browser_session set status = 'provisioning' where id = ?`, [id]);
  const { code } = await app.as(app.member).get(status, at(id, '/0'));
  expect(code).toBe(status === 409 ? 'in_progress' : 'not_found');
});

test('opening a recording is noted once, however often its playlist is read', async () => {
  const id = await session();
  await playlistOf(id);
  await playlistOf(id);
  await app.as(app.owner).request(200, 'GET', at(id, '/0'));
  const rows = await app.sql<{ summary: string; actor: { email: string } }>(
    "select summary, actor from audit_entry where action = 'browser_session.replay_opened' and entity_id = ? order by sequence",
    [id],
  );
  expect(rows.map(({ actor }) => actor.email)).toEqual([app.member.email, app.owner.email]);
});

test('a reference opens one page of one session of one tenant', async () => {
  const [id, other] = [await session(), await session()];
  const segment = (await playlistOf(id)).paths[1] ?? '';
  await app.as(app.member).get(404, segment.replace(id, other));
  await app.as(app.member).get(404, segment.replace('/0/', '/1/'));
  await app.as(app.member).get(404, `${segment.slice(0, -2)}xx`);
  await app.as(app.member).get(404, at(id, '/0/segment?u=AAAA'));
  await app.as(app.member).get(400, at(id, '/0/segment'));
  await app.as().get(401, segment);
  for (const path of [at(id), at(id, '/0'), segment]) await app.as(app.stranger).get(404, path);
});

test('a token limited to another project reaches nothing', async () => {
  const id = await session();
  const { token } = await app
    .as(app.owner)
    .post(201, '/api/application-tokens', { name: `limited-${newId()}`, projects: ['acme/other'] });
  const segment = (await playlistOf(id)).paths[1] ?? '';
  for (const path of [at(id), at(id, '/0'), segment]) await app.as({ token }).get(404, path);
  const reached = await session({ projectId: otherProjectId });
  await app.as({ token }).get(200, at(reached));
});

test('under an environment only its own sessions are found', async () => {
  const own = await session({ environmentId });
  const replay = `/api/environments/${environmentId}/browser/replay/${own}`;
  expect(await app.as(app.member).get(200, replay)).toEqual(await app.as(app.member).get(200, at(own)));
  expect((await app.as(app.member).request(200, 'GET', `${replay}/0`)).text).toBe((await playlistOf(own)).text);
  const id = await session();
  for (const path of [id, `${id}/0`])
    await app.as(app.member).get(404, `/api/environments/${environmentId}/browser/replay/${path}`);
});

test('a hosted recording is played through us, and its signed addresses are not shown', async () => {
  const id = await hosted();
  expect((await app.as(app.member).get(200, at(id))).pages).toMatchObject([{ pageId: '0', title: '' }]);
  const { text, paths } = await playlistOf(id);
  expect(text).not.toContain('Signature');
  expect(text).not.toContain(simulator.cdnUrl);
  expect(paths).toHaveLength(3);
  const whole = await app.as(app.member).request(200, 'GET', paths[2] ?? '');
  expect(whole.text).toBe('/segment-1.m4s '.repeat(100));
  const part = await app.as(app.member).request(206, 'GET', paths[2] ?? '', { headers: { range: 'bytes=1-7' } });
  expect(part.text).toBe('segment');
});

test('a playlist behind a reference is rewritten, too', async () => {
  const id = await hosted('#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n{cdn}/high/media.m3u8?Signature=abc\n');
  simulator.serve('/high/media.m3u8', (_, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).end('#EXTM3U\n#EXTINF:1,\nsegment-7.m4s\n');
  });
  const [media = ''] = (await playlistOf(id)).paths;
  const inner = await app.as(app.member).request(200, 'GET', media);
  expect(inner.headers.get('content-type')).toBe(PLAYLIST_TYPE);
  expect(inner.text).not.toContain('segment-7');
  const [segment = ''] = references(inner.text);
  expect((await app.as(app.member).request(200, 'GET', segment)).text).toContain('/high/segment-7.m4s');
});

test('a playlist behind a redirect is resolved against where it came from in the end', async () => {
  const id = await hosted('#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n{cdn}/media.m3u8\n');
  simulator.serve('/media.m3u8', (_, response) => {
    response.writeHead(302, { location: '/other/x.m3u8' }).end();
  });
  simulator.serve('/other/x.m3u8', (_, response) => {
    response.writeHead(200, { 'content-type': PLAYLIST_TYPE }).end('#EXTM3U\n#EXTINF:1,\nsegment-7.m4s\n');
  });
  const [media = ''] = (await playlistOf(id)).paths;
  const [segment = ''] = references((await app.as(app.member).request(200, 'GET', media)).text);
  expect((await app.as(app.member).request(200, 'GET', segment)).text).toContain('/other/segment-7.m4s');
});

test('addresses inside, and what is no recording, are refused', async () => {
  const id = await hosted(
    '#EXTM3U\nfile:///etc/passwd\nhttp://169.254.169.254/latest/meta-data/\nhttp://127.0.0.2/a.m4s\nhttp://[::1]/a.m4s\n{cdn}/page\n{cdn}/redirected\n',
  );
  simulator.serve('/page', (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<script>alert(1)</script>');
  });
  simulator.serve('/redirected', (_, response) => {
    response.writeHead(302, { location: 'http://10.0.0.1/' }).end();
  });
  const { paths } = await playlistOf(id);
  expect(paths).toHaveLength(6);
  for (const path of paths) expect((await app.as(app.member).get(502, path)).code).toBe('upstream_error');
});

test('a segment without an end is cut off', async () => {
  const id = await hosted('#EXTM3U\n{cdn}/endless\n');
  simulator.serve('/endless', (_, response) => {
    response.writeHead(200, { 'content-type': 'video/mp4' });
    const more = () => {
      while (response.write(MEGABYTE));
    };
    response.on('drain', more);
    more();
  });
  const [segment = ''] = (await playlistOf(id)).paths;
  const response = await fetch(`${app.url}${segment}`, { headers: { authorization: `Bearer ${app.member.token}` } });
  expect(response.status).toBe(200);
  let bytes = 0;
  const read = async () => {
    for await (const chunk of response.body ?? []) bytes += chunk.length;
  };
  await expect(read()).rejects.toThrow();
  expect(bytes).toBeLessThanOrEqual(64 * MEGABYTE.length);
});

test('a reference that has expired opens nothing', async () => {
  const id = await session();
  const page = { tenantId: app.tenant.id, sessionId: id, pageId: '0' };
  const address = 'recording://page/0/segment-00000.m4s';
  const expiresAtS = Math.floor(Date.now() / 1_000) - 1;
  const { deps, close } = activityDeps(app);
  const pathUntil = (seconds: number) =>
    at(id, `/0/segment?u=${referencesOf(deps.encryption, page, expiresAtS + seconds, [address])[0]}`);
  await app.as(app.member).get(404, pathUntil(0));
  await app.as(app.member).request(200, 'GET', pathUntil(60));
  await close();
});

test('a provider that fails is told, without its key', async () => {
  const id = await hosted();
  simulator.next({ kind: 'status', status: 500 });
  const problem = await app.as(app.member).get(502, at(id, '/0'));
  expect(problem.detail).toContain('Browserbase answered 500');
  expect(JSON.stringify(problem)).not.toContain(simulator.apiKey);
  simulator.next({ kind: 'status', status: 404 });
  await app.as(app.member).get(404, at(id, '/0'));
});
