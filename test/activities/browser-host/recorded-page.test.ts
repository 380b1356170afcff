import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Encoder, startEncoder } from '../../../activities/browser-host/recording/ffmpeg.ts';
import { RecordedPage } from '../../../activities/browser-host/recording/recorded-page.ts';

const folder = mkdtempSync(join(tmpdir(), 'quayside-recorded-page-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Written {
  picture: number;
  atMs: number;
}

/** A page whose pictures were taken in the past, and an encoder that takes each one only when it is told to. */
function recordedPage() {
  const startedAtMs = Date.now() - 3_600_000;
  const reasons: string[] = [];
  let asked = Promise.withResolvers<Written>();
  let taken = Promise.withResolvers<void>();
  const whole = { isWhole: true, isTooSlow: false, said: '' };
  const files = {
    follow: () => undefined,
    look: async () => undefined,
    clear: async () => false,
    isDamaged: false,
    recordedMs: 0,
    waitingBytes: 0,
  };
  const encoder: Encoder = {
    playlistName: 'part-0.m3u8',
    initName: 'part-0.mp4',
    async write(jpeg, atMs) {
      asked.resolve({ picture: jpeg.readUInt32BE(), atMs });
      await taken.promise;
      files.recordedMs = atMs;
    },
    end: async () => whole,
    kill: () => undefined,
    isBroken: false,
    ended: new Promise(() => undefined),
  };
  const page = new RecordedPage({
    startEncoder: async () => encoder,
    folder: join(folder, String(startedAtMs)),
    files,
    store: {
      begin: () => undefined,
      end: async () => undefined,
      cutShort: (reason) => void reasons.push(reason),
      isUnwanted: false,
    },
    failed: () => undefined,
  });
  return {
    reasons,
    take(picture: number, afterMs: number) {
      const jpeg = Buffer.alloc(4);
      jpeg.writeUInt32BE(picture);
      page.take({ jpeg, atMs: startedAtMs + afterMs, width: 640, height: 360 });
    },
    /** What the encoder is to take next. */
    next: () => asked.promise,
    /** Lets it take that. */
    letTake() {
      const before = taken;
      asked = Promise.withResolvers();
      taken = Promise.withResolvers();
      before.resolve();
    },
    async end() {
      page.end();
      encoder.write = async () => undefined;
      taken.resolve();
      await page.done;
    },
  };
}

const FIVE_A_SECOND_MS = 200;
const STOOD_STILL = 'The video encoder was too slow: the picture stood still for a while.';

test('an encoder that is behind is given the newest picture at its own time, and the recording says what it lacks', async () => {
  const page = recordedPage();
  page.take(0, 0);
  expect(await page.next()).toEqual({ picture: 0, atMs: 0 });
  // It takes four seconds for each one.
  for (let round = 1; round <= 3; round++) {
    for (let number = 20 * (round - 1) + 1; number <= 20 * round; number++)
      page.take(number, number * FIVE_A_SECOND_MS);
    page.letTake();
    expect(await page.next()).toEqual({ picture: 20 * round, atMs: 4_000 * round });
  }
  expect(page.reasons).toEqual([STOOD_STILL, STOOD_STILL, STOOD_STILL]);
  await page.end();
});

test('a page that stood still itself, and one whose encoder is a little behind, lack nothing', async () => {
  const page = recordedPage();
  page.take(0, 0);
  expect(await page.next()).toEqual({ picture: 0, atMs: 0 });
  page.take(1, 60_000);
  page.letTake();
  expect(await page.next()).toEqual({ picture: 1, atMs: 60_000 });
  for (let number = 2; number <= 6; number++) page.take(number, 60_000 + number * FIVE_A_SECOND_MS);
  page.letTake();
  expect(await page.next()).toEqual({ picture: 6, atMs: 61_200 });
  expect(page.reasons).toEqual([]);
  await page.end();
});

test.each([
  ['ends by itself, even without an error', 'exit 0', { isWhole: false, isTooSlow: false }],
  ['does not come to its end', 'exec sleep 600', { isWhole: false, isTooSlow: true }],
  ['writes all that it was given', 'exec cat >/dev/null', { isWhole: true, isTooSlow: false }],
])('an encoder that %s is told as that', async (_, script, expected) => {
  const program = { program: 'ffmpeg', apart: async () => ['sh', '-c', script] };
  const encoder = await startEncoder(program, { folder, number: 0, size: { width: 640, height: 360 } });
  if (!expected.isWhole && !expected.isTooSlow) await encoder.ended;
  expect(await encoder.end(expected.isTooSlow ? 1 : 600_000)).toMatchObject(expected);
});
