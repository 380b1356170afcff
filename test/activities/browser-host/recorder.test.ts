import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { WorkerBackend } from '../../../activities/backend.ts';
import { type RecorderParts, startRecorder } from '../../../activities/browser-host/recording/recorder.ts';
import { recordingIsFinished } from '../../../domain/review/browser-sessions/session-progress.mutations.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { activityDeps } from '../../support/activities.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { idleEngine } from '../../support/launch.ts';
import {
  animate,
  drawPictures,
  encoder,
  endRecordingHosts,
  liveBrowser,
  play,
  startRecordingHost,
} from '../../support/recordings.ts';
import { eventually } from '../../support/worker.ts';

const folder = mkdtempSync(join(tmpdir(), 'quayside-recorder-'));
const onDisk = (path: string) => [
  'unshare',
  '-rm',
  'sh',
  '-c',
  `mount -t tmpfs -o size=12k tmpfs '${path}' && exec "$0" "$@"`,
];
// Mounting takes a user namespace, which containers without privileges do not always have.
const [unshare, ...tried] = [...onDisk(folder), 'true'];
const canMount = spawnSync(unshare, tried).status === 0;
const hasEncoder = spawnSync('ffmpeg', ['-version']).status === 0;
// `.ci/browser` gets ffmpeg where it may; what CI lacks is not passed over.
const where = (isPossible: boolean) => (isPossible || process.env.CI === 'true' ? test : test.skip);
const recorded = where(hasEncoder);
const pictures = hasEncoder ? drawPictures() : [];
const [still = Buffer.alloc(0)] = pictures;
let app: TestApp;
let worker: WorkerBackend;
let projectId: string;

beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
  worker = activityDeps(app);
  const project = { identifier: 'acme/shop', platform: 'host-a' };
  projectId = (await app.as(app.owner).post(201, '/api/projects', project)).id;
});
afterAll(async () => {
  await endRecordingHosts();
  await worker?.close();
  await app?.close();
  rmSync(folder, { recursive: true, force: true });
});

const parts = (changed: Partial<RecorderParts> = {}): RecorderParts => ({
  actingAs: worker.deps.actingAs,
  log: worker.deps.log,
  objects: app.objects,
  encoder: encoder(),
  folder,
  ...changed,
});
const pagesOf = (sessionId: string) =>
  app.db
    .selectFrom('browser_replay_page')
    .where('sessionId', '=', sessionId)
    .select(['pageId', 'title', 'startedAt', 'endedAt', 'segments', 'bytes', 'isWhole', 'reason'])
    .orderBy('pageId')
    .execute();
const begun = (sessionId: string, segments = 1) =>
  eventually(
    () => pagesOf(sessionId),
    (pages) => pages.length > 0 && pages.every((page) => page.segments >= segments),
  );
const stored = (sessionId: string): string[] => {
  const path = join(app.dataDir, 'objects', app.tenant.id, 'browser-sessions', sessionId);
  return existsSync(path)
    ? readdirSync(path, { recursive: true, withFileTypes: true }).flatMap((file) => (file.isFile() ? [file.name] : []))
    : [];
};
const local = () => {
  const found = worker.deps.browsers.findReplays('local');
  if (!found) throw new Error('local recordings cannot be read');
  return found;
};
const refOf = (sessionId: string) => ({ tenantId: app.tenant.id, sessionId, projectId, providerSessionId: null });

/** What the workflow does when the session has ended. */
async function finished(sessionId: string) {
  await app.db
    .updateTable('browser_session')
    .set({ status: 'ended', recordingState: 'processing' })
    .where('id', '=', sessionId)
    .execute();
  const found = await local().replays(refOf(sessionId), new AbortController().signal);
  if (!found.isOk) throw new Error(found.message);
  const replays = { ...found.value, pages: found.value.pages.length };
  const change = worker.deps.actingAs(systemActor(app.tenantKey, 'test'));
  await change((tx) => recordingIsFinished(tx, sessionId, replays));
  return replays;
}

/**
 * Bounds on the length of what is recorded between two moments, of which only what lies before and after each is known;
 * seconds.
 */
interface Length {
  least: number;
  most: number;
}

function stopwatch() {
  const earliest = performance.now();
  let latest = earliest;
  return {
    /** What is measured has begun. */
    begun: () => void (latest = performance.now()),
    /** It ends while this is done. */
    async until(end: () => Promise<unknown>): Promise<Length> {
      const least = (performance.now() - latest) / 1_000;
      await end();
      return { least, most: (performance.now() - earliest) / 1_000 };
    },
  };
}

/** But for the length of a picture that stands still. */
function expectLength(seconds: number, { least, most }: Length = { least: 0, most: 0 }): void {
  expect(seconds).toBeGreaterThan(least - 1);
  expect(seconds).toBeLessThan(most + 1);
}

/** Removes a recording, of which nothing is left then. */
async function removed(sessionId: string) {
  await local().removeRecording(refOf(sessionId), new AbortController().signal);
  expect(stored(sessionId)).toEqual([]);
}

recorded('tabs that change, stand still, are closed or resized are recorded in their true length', async () => {
  const browser = await liveBrowser(app, projectId);
  const { sessionId } = browser.owner;
  const length = stopwatch();
  const recorder = startRecorder(browser, parts());
  length.begun();
  const stop = animate(browser, 0, pictures);
  browser.add('https://shop.example.com/still', 'Stands still');
  browser.take(1, still);
  const closed = browser.add('https://shop.example.com/closed', 'Is closed');
  browser.take(2, still);
  // A tab without a picture is no page.
  browser.add('about:blank', 'Empty');
  await pause(1_500);
  const lengthOfClosed = await length.until(() => browser.tabs.close(closed.id));
  stop();
  const [larger] = drawPictures('500x701');
  browser.take(0, larger);
  await pause(2_700);
  const whole = await length.until(() => Promise.all([recorder.finish(), recorder.finish()]));
  await recorder.finish();

  const rows = await pagesOf(sessionId);
  expect(rows.map(({ pageId, title, isWhole }) => ({ pageId, title, isWhole }))).toEqual([
    { pageId: 0, title: 'Shop', isWhole: true },
    { pageId: 1, title: 'Stands still', isWhole: true },
    { pageId: 2, title: 'Is closed', isWhole: true },
  ]);
  const played = await Promise.all([0, 1, 2].map((page) => play(app, sessionId, page)));
  const expected = [whole, whole, lengthOfClosed];
  for (const [page, { seconds, playedSeconds, size, playlist }] of played.entries()) {
    expectLength(seconds, expected[page]);
    expectLength(playedSeconds, expected[page]);
    expect({ size, isEnded: playlist.includes('#EXT-X-ENDLIST') }).toEqual({ size: '640x360', isEnded: true });
    const row = rows[page];
    const lasted = (Date.parse(row?.endedAt ?? '') - Date.parse(row?.startedAt ?? '')) / 1_000;
    expectLength(lasted, expected[page]);
  }
  expect(readdirSync(folder)).toEqual([]);

  const { state, bytes, reason } = await finished(sessionId);
  expect({ state, reason }).toEqual({ state: 'ready', reason: null });
  expect(bytes).toBe(rows.reduce((sum, row) => sum + Number(row.bytes), 0));
  const session = await app.as(app.owner).get(200, `/api/browser-sessions/${sessionId}`);
  expect(session.recording).toEqual({ state: 'ready', pages: 3, bytes, reason: null });
});

recorded('an encoder that dies is started anew: the time of the recording stays true', async () => {
  const browser = await liveBrowser(app, projectId);
  let encoders = 0;
  const pidFile = join(folder, 'encoder.pid');
  const apart = async () => (encoders++ === 0 ? ['sh', '-c', `echo $$ > '${pidFile}'; exec "$0" "$@"`] : []);
  const length = stopwatch();
  const recorder = startRecorder(browser, parts({ encoder: { program: 'ffmpeg', apart } }));
  length.begun();
  const stop = animate(browser, 0, pictures);
  await begun(browser.owner.sessionId);
  process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
  await eventually(
    async () => encoders,
    (count) => count === 2,
  );
  await begun(browser.owner.sessionId, 2);
  stop();
  const whole = await length.until(() => recorder.finish());
  rmSync(pidFile);
  const { seconds, playlist } = await play(app, browser.owner.sessionId);
  expectLength(seconds, whole);
  expect({
    encoders,
    parts: playlist.match(/EXT-X-MAP/g)?.length,
    breaks: playlist.match(/DISCONTINUITY/g)?.length,
  }).toEqual({ encoders: 2, parts: 2, breaks: 1 });
  expect(await finished(browser.owner.sessionId)).toMatchObject({
    state: 'partial',
    reason: 'The video encoder ended early.',
  });
});

recorded('a recorder that was killed leaves what it stored, and it plays', async () => {
  const browser = await liveBrowser(app, projectId);
  const { sessionId } = browser.owner;
  const host = startRecordingHost(app, browser.owner, folder);
  await begun(sessionId, 2);
  await host.kill();
  expect(await finished(sessionId)).toMatchObject({ state: 'partial', reason: 'The recording was cut off.' });
  const { seconds, playlist } = await play(app, sessionId);
  expect(seconds).toBeGreaterThan(3.5);
  expect(playlist).toContain('#EXT-X-ENDLIST');
  const [page] = await pagesOf(sessionId);
  expect(page).toMatchObject({
    isWhole: false,
    reason: 'The host that recorded it was lost.',
    endedAt: expect.any(String),
  });
  await removed(sessionId);
});

recorded.each([
  ['behind one that is recorded on', false],
  ['when all that were recorded have ended', true],
])(
  'tabs beyond those that are recorded are said to be missing, %s; tabs without a picture do not count',
  async (_, isEnded) => {
    const browser = await liveBrowser(app, projectId);
    const { sessionId } = browser.owner;
    const recorder = startRecorder(browser, parts({ pagesMax: 2 }));
    browser.take(0, still);
    for (let number = 1; number <= 3; number++)
      await browser.tabs.close(browser.add('about:blank', `Empty ${number}`).id);
    browser.add('https://shop.example.com/second', 'Second');
    browser.take(4, still);
    await begun(sessionId);
    if (isEnded) {
      for (const { id } of browser.tabs.list()) await browser.tabs.close(id);
      await eventually(
        () => pagesOf(sessionId),
        (pages) => pages.every(({ endedAt }) => endedAt !== null),
      );
    }
    browser.add('https://shop.example.com/third', 'Third');
    browser.take(5, still);
    await recorder.finish();
    expect((await pagesOf(sessionId)).map(({ title }) => title)).toEqual(['Shop', 'Second']);
    expect(await finished(sessionId)).toMatchObject({
      state: 'partial',
      pages: 2,
      reason: 'Not all tabs were recorded: there were too many.',
    });
  },
);

recorded('a session that is deleted while it is recorded leaves nothing', async () => {
  const browser = await liveBrowser(app, projectId);
  const { sessionId } = browser.owner;
  const recorder = startRecorder(browser, parts());
  browser.take(0, still);
  await begun(sessionId);
  await app.db.deleteFrom('browser_session').where('id', '=', sessionId).execute();
  await eventually(
    async () => stored(sessionId),
    (files) => files.length === 0,
  );
  await recorder.finish();
  expect({ stored: stored(sessionId), waiting: existsSync(join(folder, sessionId)) }).toEqual({
    stored: [],
    waiting: false,
  });
});

recorded('a store that fails for a while delays a recording; one that fails for good cuts it short', async () => {
  const [slow, broken] = [await liveBrowser(app, projectId), await liveBrowser(app, projectId)];
  let failures = 0;
  // Attempts of some seconds, in which the recorder looks several times at what waits.
  const isBack = () => failures === 5;
  const flaky: RecorderParts['objects'] = {
    ...app.objects,
    put: async (...content) => {
      if (!isBack()) {
        failures++;
        throw new Error('the store is away');
      }
      return app.objects.put(...content);
    },
  };
  const away: RecorderParts['objects'] = {
    ...app.objects,
    put: () => Promise.reject(new Error('the store is away')),
  };
  const length = stopwatch();
  // Nothing is taken while something waits: the picture stands still, which is noted, but the time goes on.
  const recorders = [
    startRecorder(slow, parts({ objects: flaky, waitingMaxBytes: 1 })),
    startRecorder(broken, parts({ objects: away, giveUpMs: 100 })),
  ];
  const stops = [slow, broken].map((browser) => animate(browser, 0, pictures));
  length.begun();
  await eventually(async () => isBack(), Boolean);
  for (const stop of stops) stop();
  const whole = await length.until(() => Promise.all(recorders.map((recorder) => recorder.finish())));
  expect(await finished(slow.owner.sessionId)).toMatchObject({
    state: 'partial',
    reason: 'The object store was too slow: the picture stood still for a while.',
  });
  expectLength((await play(app, slow.owner.sessionId)).seconds, whole);
  const reason = 'The object store did not take all of it.';
  expect(await finished(broken.owner.sessionId)).toMatchObject({ state: 'none', bytes: 0, reason });
});

where(hasEncoder && canMount)('a full disk cuts a recording short, and says so', async () => {
  const browser = await liveBrowser(app, projectId);
  const { sessionId } = browser.owner;
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  const host = startRecordingHost(app, browser.owner, disk, onDisk(disk));
  await eventually(
    () => pagesOf(sessionId),
    ([page]) => page?.reason !== undefined && page.reason !== null,
  );
  await host.finish();
  const { state, reason } = await finished(sessionId);
  expect(reason).toBe('The disk of the host was full.');
  expect(['partial', 'none']).toContain(state);
});
