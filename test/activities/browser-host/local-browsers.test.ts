import { pino } from 'pino';
import { LocalBrowsers } from '../../../activities/browser-host/chromium/local-browsers.ts';
import type {
  BrowserReplays,
  SessionOrder,
  Viewport,
} from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import { openSessionsOfHost } from '../../../domain/review/browser-sessions/hosts/browser-hosts.queries.ts';
import { newId } from '../../../domain/kernel/shared/ids.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { addHost, type SessionStage, sessionStage } from '../../support/browser-sessions.ts';
import { FakeBrowsers } from '../../support/fake-browsers.ts';
import { FakeRunningBrowser } from '../../support/fake-running-browser.ts';
import { eventually } from '../../support/worker.ts';

let app: TestApp;
let stage: SessionStage;
const [host, other] = [newId(), newId()].map((id) => ({ id, queue: `browser-host-${id}` })) as [Host, Host];
interface Host {
  id: string;
  queue: string;
}
beforeAll(async () => {
  app = await testApp();
  await Promise.all([addHost(app, host), addHost(app, other)]);
  stage = await sessionStage(app);
});
afterAll(() => app.close());

const USUAL = { width: 1_280, height: 720 };
const STOPPED = { reason: 'stopped', detail: null } as const;
/** Browsers that are none, and the viewports with which they were started. */
function newBrowsers(spares = 0) {
  const started: Viewport[] = [];
  const browsers = new LocalBrowsers({
    host,
    places: 4,
    spares,
    async startBrowser(viewport) {
      started.push(viewport);
      return new FakeRunningBrowser();
    },
    recordings: new FakeBrowsers('local') satisfies BrowserReplays,
    note: async () => undefined,
    log: pino({ level: 'silent' }),
  });
  return { browsers, started };
}
const orderOf = (sessionId: string, viewport: Viewport = USUAL): SessionOrder => ({
  sessionId,
  tenantId: app.tenant.id,
  projectId: newId(),
  viewport,
  allowedHosts: [],
  expiresAt: new Date(Date.now() + 600_000),
  capAt: new Date(Date.now() + 600_000),
  isRecorded: false,
  startUrl: async () => new URL('https://org.example.com/'),
});
/** Begins these, which show no page. */
const begin = async (browsers: LocalBrowsers, orders: readonly SessionOrder[]) => {
  const before = browsers.placesUsed;
  for (const order of orders) void browsers.create(order, new AbortController().signal);
  await eventually(
    async () => browsers.placesUsed,
    (used) => used === before + orders.length,
  );
};
const running = async (browsers: LocalBrowsers, ids: readonly string[]) => {
  const answers = await Promise.all(
    ids.map((sessionId) => browsers.get({ sessionId, tenantId: newId(), projectId: newId(), providerSessionId: null })),
  );
  return ids.filter((_, n) => answers[n]?.isOk === true && answers[n].value.state !== 'ended');
};

test('a session of the usual size takes the spare browser, one of another size does not', async () => {
  const { browsers, started } = newBrowsers(1);
  await browsers.warmUp();
  const phone = { width: 390, height: 844 };
  await begin(browsers, [orderOf(newId(), phone)]);
  expect(started).toEqual([USUAL, phone]);
  await begin(browsers, [orderOf(newId())]);
  expect(started).toEqual([USUAL, phone]);
  await begin(browsers, [orderOf(newId())]);
  expect(started).toEqual([USUAL, phone, USUAL]);
  await browsers.stop(STOPPED);
  expect(browsers.placesUsed).toBe(0);
});

test('sessions whose row is gone, has ended or is on another host are ended, those of this host are not', async () => {
  const { browsers } = newBrowsers();
  const ids: string[] = [];
  for (let n = 0; n < 4; n++) ids.push((await stage.record(await stage.pullRequest())).id);
  const [kept = '', gone, ended, elsewhere] = ids;
  const isOn = (id: string | undefined, { id: hostId }: Host) =>
    app.sql('update browser_session set host_id = ? where id = ?', [hostId, id]);
  await begin(
    browsers,
    ids.map((id) => orderOf(id)),
  );
  const look = () =>
    browsers.endStrays((tenantId, asked) => openSessionsOfHost({ db: app.db, tenantId }, host.id, asked));
  // Their rows do not name the host yet.
  await look();
  for (const id of ids) await isOn(id, host);
  await look();
  await expect(running(browsers, ids)).resolves.toEqual(ids);
  await app.sql('delete from browser_session where id = ?', [gone]);
  await app.sql(`update browser_session set status = 'ended' where id = ?`, [ended]);
  await isOn(elsewhere, other);
  await look();
  await expect(running(browsers, ids)).resolves.toEqual(ids);
  await look();
  await expect(running(browsers, ids)).resolves.toEqual([kept]);
  await eventually(
    async () => browsers.placesUsed,
    (used) => used === 1,
  );
  await browsers.stop(STOPPED);
});
