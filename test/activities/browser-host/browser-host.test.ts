import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import type { BrowserHost } from '../../../activities/browser-host/browser-host.ts';
import { openPage } from '../../support/local-browsers.ts';
import { type CrmSimulator, crmSimulator } from '../../simulators/crm-org/simulator.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { orgStage, startRealHost } from '../../support/browser-host.ts';
import { startSessionWorkers } from '../../support/browser-sessions.ts';
import { eventually, type TestWorker } from '../../support/worker.ts';

let crm: CrmSimulator;
let app: TestApp;
let worker: TestWorker;
let host: BrowserHost;
let stage: Awaited<ReturnType<typeof orgStage>>;
const logged: string[] = [];

beforeAll(async () => {
  const lines = new PassThrough();
  lines.on('data', (line: Buffer) => logged.push(line.toString()));
  [crm, app] = await Promise.all([crmSimulator(), testApp()]);
  [worker, host, stage] = await Promise.all([
    startSessionWorkers(app, []),
    startRealHost(app, { BROWSER_PLACES: '1' }, pino({ level: 'trace' }, lines)),
    orgStage(app, crm),
  ]);
});
afterAll(async () => {
  await stopHost();
  await worker.stop();
  await Promise.all([app.close(), crm.close()]);
});

let stopping: Promise<void> | undefined;
const stopHost = () => (stopping ??= host.stop());

const browserOf = (id: string) => {
  const browser = host.browsers.find(id);
  if (!browser) throw new Error('the browser is not lent');
  return browser;
};
const released = (id: string) =>
  eventually(
    () => app.sql<{ released_at: string | null }>('select released_at from browser_session where id = ?', [id]),
    ([row]) => row?.released_at != null,
  );

test('a browser shows the org behind its front door, whose secret is nowhere, until it is stopped', async () => {
  const { prNumber, org } = await stage.pullRequestWithOrg();
  await expect(app.as(app.owner).get(200, '/api/browser-sessions/providers')).resolves.toMatchObject({
    local: { available: true, places: 1, isolation: 'jailed' },
  });
  const { id } = await stage.record(prNumber, { startPath: '/lightning/page/home' });
  await expect(stage.becomes(id, 'live')).resolves.toMatchObject({ provider: 'local', isolation: 'jailed' });
  const browser = browserOf(id);
  const [tab] = browser.tabs.list();
  expect(tab?.url).toBe(`${org.url}/lightning/page/home`);
  const history = await browser.cdp.send('Page.getNavigationHistory', {}, tab?.cdpSession);
  expect(history.entries).toHaveLength(1);
  await app.as(app.owner).post(200, `/api/browser-sessions/${id}/stop`);
  await expect(browser.ending).resolves.toMatchObject({ reason: 'stopped' });
  await released(id);
  expect(host.browsers.placesUsed).toBe(0);
  const recorded = await eventually(
    () => stage.read(id),
    ({ recording }) => recording.state === 'ready',
  );
  expect(recorded.recording).toMatchObject({ pages: 1 });
  const playlist = await app.as(app.owner).request(200, 'GET', `/api/browser-sessions/${id}/replays/0`);
  expect(playlist.text).toContain('#EXT-X-ENDLIST');
  const { timeline } = await eventually(
    () => stage.read(id),
    (session) => session.timeline.some(({ kind }: { kind: string }) => kind === 'egress'),
  );
  const egress = timeline.find(({ kind }: { kind: string }) => kind === 'egress');
  expect(egress.data.allowed).toEqual([{ host: '127.0.0.1', connections: expect.any(Number) }]);
  const rows = await app.sql<{ text: string }>(
    `select row_to_json(s)::text as text from browser_session s
     union all select row_to_json(e)::text from browser_session_event e
     union all select row_to_json(a)::text from audit_entry a`,
  );
  const texts = [...rows.map(({ text }) => text), ...logged].join('\n');
  for (const secret of crm.secrets) if (secret.includes('frontdoor')) expect(texts).not.toContain(secret);
  for (const secret of crm.secrets) if (secret.includes('otp=')) expect(texts).not.toContain(secret.split('otp=')[1]);
});

test('a session waits for a place, and the time of a browser ends it although nobody looks after it', async () => {
  const first = await stage.record((await stage.pullRequestWithOrg()).prNumber);
  await stage.becomes(first.id, 'live');
  const second = await stage.record((await stage.pullRequestWithOrg()).prNumber);
  await worker.stop();
  // As an extension would, from the host's own sight: no workflow is worked on any more.
  const { owner, ending } = browserOf(first.id);
  await host.browsers.keepUntil({ ...owner, providerSessionId: null }, new Date());
  await expect(ending).resolves.toEqual({ reason: 'expired', detail: null });
  // Its place is soon taken by the other session, whose activity is still repeated.
  await eventually(
    async () => host.browsers.find(first.id),
    (browser) => browser === undefined,
  );
  worker = await startSessionWorkers(app, []);
  await stage.becomes(first.id, 'expired');
  await stage.becomes(second.id, 'live');
  expect(host.browsers.placesUsed).toBe(1);
  const browser = browserOf(second.id);
  const page = await openPage(browser.cdp);
  for (const { id, number } of browser.tabs.list()) if (number === 0) await browser.tabs.close(id);
  await browser.cdp.send('Target.closeTarget', { targetId: page.targetId });
  await expect(stage.becomes(second.id, 'ended')).resolves.toMatchObject({ statusReason: 'browser_closed' });
});

test('an org that does not let the browser in ends the session, and leaves no browser', async () => {
  const { prNumber, org } = await stage.pullRequestWithOrg();
  org.isUserActive = false;
  const { id } = await stage.record(prNumber);
  await expect(stage.becomes(id, 'error')).resolves.toMatchObject({ statusReason: 'front_door_refused' });
  await released(id);
  expect(host.browsers.placesUsed).toBe(0);
});

test('a host that is stopped ends what it has allocated and says so, and is not known any more', async () => {
  const { id } = await stage.record((await stage.pullRequestWithOrg()).prNumber);
  await stage.becomes(id, 'live');
  await stopHost();
  await expect(stage.becomes(id, 'error')).resolves.toMatchObject({
    statusReason: 'host_lost',
    statusDetail: 'The host of the browser was stopped or restarted.',
  });
  await released(id);
  await expect(app.sql('select id from browser_host')).resolves.toEqual([]);
});
