import { readdir, readFile, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import {
  initName,
  type RecordedPart,
  secondsOf,
  segmentName,
  segmentsOf,
} from '../../../domain/review/browser-sessions/recordings/recorded-playlist-rules.ts';

/** A disk with less is full. */
const FREE_MIN_BYTES = 1_048_576;

/** Whether the boxes of a file (ISO/IEC 14496-12, 4.2) end where it ends. */
function isWholeMp4(content: Buffer): boolean {
  let at = 0;
  while (at + 8 <= content.length) {
    const size = content.readUInt32BE(at);
    if (size < 8) return false;
    at += size;
  }
  return at > 0 && at === content.length;
}

/** A complete file that an encoder has written. */
export interface EncodedFile {
  path: string;
  /** Name under which it is stored. */
  name: string;
  bytes: number;
  /** From 0 on: the run of the encoder that wrote it. */
  part: number;
  /** Length of a segment; null: the file is the beginning of a part, not a segment. */
  seconds: number | null;
}

/** What the encoders of a tab have written, part by part, and what of it waits to be stored. */
export class EncodedFiles {
  readonly #folder: string;
  readonly #parts: (RecordedPart & { playlistName: string; initName: string })[] = [];
  readonly #waiting: EncodedFile[] = [];
  #segments = 0;
  #looking = Promise.resolve();
  #isDamaged = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Another encoder writes from now on. */
  follow(encoder: { playlistName: string; initName: string }): void {
    this.#isDamaged = false;
    this.#parts.push({ playlistName: encoder.playlistName, initName: encoder.initName, segments: [] });
  }

  /** Whether the encoder could not write everything of its part; it does not say so when the disk is full. */
  get isDamaged(): boolean {
    return this.#isDamaged;
  }

  /** How long what was completed lasts, in milliseconds. */
  get recordedMs(): number {
    return Math.round(secondsOf(this.#parts) * 1_000);
  }

  /** The file that waits longest. */
  get next(): EncodedFile | undefined {
    return this.#waiting[0];
  }

  get waitingBytes(): number {
    return this.#waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Notes what was completed since. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#look());
    return this.#looking;
  }

  async #look(): Promise<void> {
    const number = this.#parts.length - 1;
    const part = this.#parts[number];
    if (!part) return;
    const playlist = await readFile(join(this.#folder, part.playlistName), 'utf8').catch(() => undefined);
    // It is renamed when it is written: without content it was not.
    if (playlist === '') this.#isDamaged = true;
    for (const { name, seconds } of segmentsOf(playlist ?? '').slice(part.segments.length)) {
      const file = { part: number, seconds };
      if (part.segments.length === 0) await this.#add(part.initName, initName(number), { ...file, seconds: null });
      await this.#add(name, segmentName(this.#segments), file);
      if (this.#isDamaged) return;
      this.#segments++;
      part.segments.push({ name, seconds });
    }
  }

  async #add(localName: string, name: string, of: Pick<EncodedFile, 'part' | 'seconds'>): Promise<void> {
    if (this.#isDamaged) return;
    const path = join(this.#folder, localName);
    const content = await readFile(path).catch(() => undefined);
    if (content && isWholeMp4(content)) this.#waiting.push({ ...of, path, name, bytes: content.length });
    else this.#isDamaged = true;
  }

  /** Removes what does not wait to be stored. Answers whether the disk was full. */
  async clear(): Promise<boolean> {
    const { bavail, bsize } = await statfs(this.#folder);
    const waiting = new Set(this.#waiting.map(({ path }) => path));
    for (const path of (await readdir(this.#folder)).map((name) => join(this.#folder, name)))
      if (!waiting.has(path)) await rm(path, { force: true });
    return bavail * bsize < FREE_MIN_BYTES;
  }

  /** Forgets the file that waited longest: it is stored. */
  async remove(): Promise<void> {
    const stored = this.#waiting.shift();
    if (stored) await rm(stored.path, { force: true });
  }
}
