import { backoffMs } from '../../../domain/kernel/shared/backoff-rules.ts';
import { mkdir, rm } from 'node:fs/promises';
import type { Picture } from '../chromium/browser.ts';
import type { EncodedFiles } from './encoded-files.ts';
import type { Encoder, EncoderEnd, EncodedPart } from './ffmpeg.ts';
import { jpegSize } from '../live/jpeg-size.ts';
import type { PageStore } from './page-store.ts';

/** A page that does not change is recorded as often, so that its time is true. */
const REPEAT_MS = 1_000;
/** Five pictures a second, of a source that is not exactly as regular. */
const GAP_MIN_MS = 150;
/** The encoder shows the last picture for as long as it did those before: they come at its own rate. */
const LAST_BEFORE_MS = [600, 400, 200];
/** Less than that is not worth a picture at the end. */
const REST_MIN_MS = 40;
/** A picture that stands still for longer while its page changes is told. */
const LEFT_OUT_MAX_MS = 3_000;
/** How long an encoder may take to write the rest: on a busy machine more than to write what came before. */
const ENCODER_END_MS = 30_000;
/** An encoder that was given so much more than it has completed, for as long, cannot write. */
const AHEAD_MAX_MS = 30_000;
const PARTS_MAX = 20;
const RESTART_MS = 500;
const RESTART_MAX_MS = 60_000;
/** What waits on the disk for a slow store; beyond it the picture stands still. */
const WAITING_MAX_BYTES = 64 * 1_048_576;

const STOOD_STILL = 'The video encoder was too slow: the picture stood still for a while.';

export interface RecordedPageParts {
  /** Starts to make a part of the recording. One that cannot be started is broken. */
  startEncoder: (part: EncodedPart) => Promise<Encoder>;
  folder: string;
  files: Pick<EncodedFiles, 'follow' | 'look' | 'clear' | 'isDamaged' | 'recordedMs' | 'waitingBytes'>;
  store: Pick<PageStore, 'begin' | 'end' | 'cutShort' | 'isUnwanted'>;
  /** Told of each encoder that ended early. */
  failed: (end: EncoderEnd) => void;
  waitingMaxBytes?: number | undefined;
}

/** Milliseconds since the epoch, by a clock that is never set. */
const clock = (): number => performance.timeOrigin + performance.now();

/**
 * The recording of one tab, from its first picture on. Its time is that of the pictures, whatever is busy: pictures that
 * cannot be taken are left out, and the one before is shown for longer.
 */
export class RecordedPage {
  readonly #parts: RecordedPageParts;
  readonly done: Promise<void>;
  readonly #first = Promise.withResolvers<Picture | undefined>();
  #newest: Picture | undefined;
  /** When the first of those pictures was taken that came since one was written. */
  #waitingSinceMs: number | undefined;
  #startedAtMs = 0;
  #endsAtMs: number | undefined;
  /** The picture that was written last. */
  #shown: Buffer = Buffer.alloc(0);
  #wake: () => void = () => undefined;

  constructor(parts: RecordedPageParts) {
    this.#parts = parts;
    this.done = this.#run();
  }

  take(picture: Picture): void {
    this.#newest = picture;
    this.#waitingSinceMs ??= picture.atMs;
    this.#first.resolve(picture);
    this.#wake();
  }

  /** Ends now; `done` resolves when everything is stored. */
  end(): void {
    this.#endsAtMs ??= clock();
    this.#first.resolve(undefined);
    this.#wake();
  }

  async #run(): Promise<void> {
    const first = await this.#first.promise;
    if (!first) return;
    const { folder, store } = this.#parts;
    this.#startedAtMs = Math.min(first.atMs, clock());
    this.#shown = first.jpeg;
    if (this.#newest === first) this.#taken();
    store.begin(new Date(this.#startedAtMs));
    let endedAtMs = this.#startedAtMs;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      endedAtMs = await this.#record(jpegSize(first.jpeg) ?? first);
    } catch (error) {
      this.#broken(
        { isWhole: false, isTooSlow: false, said: String(error) },
        (error as NodeJS.ErrnoException).code === 'ENOSPC',
      );
    }
    await store.end(new Date(endedAtMs));
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }

  /** Makes part after part until the end; answers when the last picture was taken. */
  async #record(size: { width: number; height: number }): Promise<number> {
    const { startEncoder, folder, files, store } = this.#parts;
    for (let number = 0; ; number++) {
      // What an encoder that died had not completed is shown again as the picture that it ended with.
      const fromMs = this.#startedAtMs + files.recordedMs;
      const encoder = await startEncoder({ folder, number, size });
      files.follow(encoder);
      void encoder.ended.then(() => this.#wake());
      const lastMs = await this.#feed(encoder, fromMs);
      if (store.isUnwanted || files.isDamaged || this.#endsAtMs === undefined) encoder.kill();
      const end = await encoder.end(ENCODER_END_MS);
      await files.look();
      if (store.isUnwanted || (end.isWhole && !files.isDamaged)) return lastMs;
      this.#broken(end, await files.clear());
      if (number + 1 < PARTS_MAX) await this.#pauseUnlessEnded(backoffMs(number + 1, RESTART_MS, RESTART_MAX_MS));
      if (this.#endsAtMs !== undefined || number + 1 >= PARTS_MAX) return this.#startedAtMs + files.recordedMs;
    }
  }

  #broken(end: EncoderEnd, isDiskFull: boolean): void {
    this.#parts.failed(end);
    const reason = end.isTooSlow ? 'The video encoder was too slow.' : 'The video encoder ended early.';
    this.#parts.store.cutShort(isDiskFull ? 'The disk of the host was full.' : reason);
  }

  /** The newest picture is about to be written. */
  #taken(): void {
    this.#newest = undefined;
    this.#waitingSinceMs = undefined;
  }

  /** Writes pictures until the end of the tab or of the encoder; answers when the last was taken. */
  async #feed(encoder: Encoder, fromMs: number): Promise<number> {
    const write = async (jpeg: Buffer, atMs: number) => {
      this.#shown = jpeg;
      await encoder.write(jpeg, Math.round(atMs - fromMs));
      return atMs;
    };
    const { files, store } = this.#parts;
    let lastMs = await write(this.#shown, fromMs);
    let aheadSinceMs: number | undefined;
    while (!encoder.isBroken && !store.isUnwanted) {
      const isAhead = () => lastMs - this.#startedAtMs - files.recordedMs > AHEAD_MAX_MS;
      if (isAhead()) await files.look();
      aheadSinceMs = isAhead() ? (aheadSinceMs ?? clock()) : undefined;
      if (aheadSinceMs !== undefined && clock() - aheadSinceMs > AHEAD_MAX_MS) return lastMs;
      if (files.isDamaged) return lastMs;
      const untilMs = this.#endsAtMs ?? clock();
      const newest = this.#newest;
      const nextMs = newest ? Math.min(Math.max(newest.atMs, lastMs + GAP_MIN_MS), untilMs) : untilMs;
      if (this.#isBehind && this.#endsAtMs === undefined) {
        if (newest) store.cutShort('The object store was too slow: the picture stood still for a while.');
        await this.#sleep(REPEAT_MS);
      } else if (newest && nextMs - lastMs >= GAP_MIN_MS) {
        // However much lies between: who repeated the last one first would never come to it with an encoder that is behind.
        if (newest.atMs - (this.#waitingSinceMs ?? newest.atMs) > LEFT_OUT_MAX_MS) store.cutShort(STOOD_STILL);
        this.#taken();
        lastMs = await write(newest.jpeg, nextMs);
      } else if (!newest && nextMs - lastMs > REPEAT_MS) lastMs = await write(this.#shown, lastMs + REPEAT_MS);
      else if (this.#endsAtMs !== undefined) {
        for (const beforeMs of LAST_BEFORE_MS)
          if (untilMs - beforeMs - lastMs >= REST_MIN_MS)
            lastMs = await write(newest?.jpeg ?? this.#shown, untilMs - beforeMs);
        return untilMs;
      } else await this.#sleep(lastMs + (newest ? GAP_MIN_MS : REPEAT_MS) - untilMs);
    }
    return lastMs;
  }

  get #isBehind(): boolean {
    return this.#parts.files.waitingBytes > (this.#parts.waitingMaxBytes ?? WAITING_MAX_BYTES);
  }

  async #pauseUnlessEnded(ms: number): Promise<void> {
    const untilMs = clock() + ms;
    for (let leftMs = ms; leftMs > 0 && this.#endsAtMs === undefined; leftMs = untilMs - clock())
      await this.#sleep(leftMs);
  }

  /** Until something happens, or the wait ends. */
  async #sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.max(1, ms));
    this.#wake = resolve;
    await promise;
    clearTimeout(timer);
  }
}
