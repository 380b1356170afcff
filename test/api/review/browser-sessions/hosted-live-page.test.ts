import { type BrowserbaseSimulator, browserbaseSimulator } from '../../../simulators/browserbase/simulator.ts';
import { testApp, type TestApp } from '../../../support/app.ts';
import { cookieOf } from '../../../support/browser-session.ts';
import { idleEngine } from '../../../support/launch.ts';
import { recordedSession } from '../../../support/recorded-session.ts';

let app: TestApp;
let simulator: BrowserbaseSimulator;
let projectId: string;

beforeAll(async () => {
  simulator = await browserbaseSimulator();
  app = await testApp({ launch: idleEngine, env: { BROWSER_PROVIDER_TIMEOUT_SECONDS: '2' } });
  const owner = app.as(app.owner);
  ({ id: projectId } = await owner.post(201, '/api/projects', { identifier: 'acme/shop', platform: 'host-a' }));
  await owner.post(201, '/api/integrations', {
    kind: 'browser',
    name: 'Browsers',
    baseUrl: simulator.url,
    credentials: { type: 'token', token: simulator.apiKey },
  });
});
beforeEach(() => simulator.reset());
afterAll(async () => {
  await app.close();
  await simulator.close();
});

const pathOf = (id: string) => `/browser-sessions/${id}/live`;
/** A live session whose browser its provider runs. */
async function hosted(): Promise<{ id: string; providerSessionId: string }> {
  const headers = { 'x-bb-api-key': simulator.apiKey };
  const created = await fetch(`${simulator.url}/v1/sessions`, { method: 'POST', headers, body: '{}' });
  const { id: providerSessionId } = (await created.json()) as { id: string };
  const session = { projectId, isLive: true, provider: 'browserbase', recordingState: 'recording' } as const;
  return { id: await recordedSession(app, { ...session, providerSessionId }), providerSessionId };
}
/** A live session that a worker outside runs, and where it says that the browser is shown. */
async function external(liveViewUrl: string | null): Promise<string> {
  const session = { projectId, isLive: true, provider: 'external', recordingState: 'none' } as const;
  const id = await recordedSession(app, session);
  await app.sql('update browser_session set live_view_url = ? where id = ?', [liveViewUrl, id]);
  return id;
}
async function shown(id: string, how: { cookie: string } | { caller: TestApp['owner'] }) {
  const { text, headers } =
    'cookie' in how
      ? await app.as().request(200, 'GET', pathOf(id), { headers: how })
      : await app.as(how.caller).request(200, 'GET', pathOf(id));
  const policy = headers.get('content-security-policy') ?? '';
  return { text, frames: /frame-src ([^;]*);/.exec(policy)?.[1], frame: /<iframe[^>]*>/.exec(text)?.[0] };
}

test('a hosted browser is shown to those who may work in it, in a frame that is kept to its origin', async () => {
  const { id, providerSessionId } = await hosted();
  const { frame, frames } = await shown(id, { caller: app.owner });
  const url = `${simulator.url}/devtools-fullscreen/inspector.html?session=${providerSessionId}`;
  expect(frame).toBe(
    `<iframe src="${url}" title="Browser of the provider" sandbox="allow-scripts allow-same-origin allow-forms" referrerpolicy="no-referrer">`,
  );
  expect(frames).toBe(new URL(simulator.url).origin);
});

test('who may only watch gets no frame of a hosted browser, and is told why', async () => {
  const { id } = await hosted();
  const { text, frame, frames } = await shown(id, { caller: app.member });
  expect([frame, frames]).toEqual([undefined, "'none'"]);
  expect(text).toContain(
    'The provider of this browser shows it only to people who may control the session; you may only watch.',
  );
  expect(text).not.toContain(simulator.url);
});

test('a guest sees no frame, whatever the link: its address would outlive the link', async () => {
  const { id } = await hosted();
  const opened = async (mode: string) => {
    const made = await app.as(app.owner).post(201, `/api/browser-sessions/${id}/live-links`, { mode, minutes: 30 });
    const answer = await app.as().request(302, 'GET', made.url.replace('http://quayside.test', ''));
    return { cookie: cookieOf(answer, '__Host-qs_live') };
  };
  for (const mode of ['control', 'watch'])
    expect(await shown(id, await opened(mode))).toMatchObject({ frame: undefined, frames: "'none'" });
});

test('a provider that does not answer, and a session that has ended, leave the page without a frame', async () => {
  const { id, providerSessionId } = await hosted();
  simulator.always(`GET /v1/sessions/${providerSessionId}/debug`, { kind: 'status', status: 500 });
  const away = await shown(id, { caller: app.owner });
  expect(away).toMatchObject({ frame: undefined, frames: "'none'" });
  expect(away.text).toContain('Its provider does not show it now.');
  simulator.reset();
  await app.sql(`update browser_session set status = 'ended', ended_at = now() where id = ?`, [id]);
  expect(await shown(id, { caller: app.owner })).toMatchObject({ frame: undefined, frames: "'none'" });
});

test('a browser of a worker outside is a link, escaped and never a frame', async () => {
  const id = await external('https://browsers.example/b7?x=1&y="><script>');
  const { text, frame, frames } = await shown(id, { caller: app.member });
  expect([frame, frames]).toEqual([undefined, "'none'"]);
  expect(text).toContain('<a href="https://browsers.example/b7?x=1&amp;y=&quot;&gt;&lt;script&gt;" rel="noreferrer">');
  const silent = await shown(await external(null), { caller: app.member });
  expect(silent.text).toContain('The worker that runs it has not said where it is shown.');
});
