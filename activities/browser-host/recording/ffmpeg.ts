import { type ChildProcess, spawn } from 'node:child_process';
import { SEGMENT_SECONDS } from '../../../domain/review/browser-sessions/recordings/recorded-playlist-rules.ts';
import { within } from '../../../domain/kernel/queues/within.ts';
import { pictureHead, streamHead } from '../live/timed-pictures.ts';

export const PICTURES_PER_SECOND = 5;
/** What of its messages is kept. */
const MESSAGES_MAX = 2_000;
/** An encoder that takes no picture for so long is broken. */
const STALLED_MS = 30_000;
const SIDE_MAX = 4_096;
const NICENESS = '10';

/** How an encoder is started. */
export interface EncoderProgram {
  /** `ffmpeg`, or its path. */
  program: string;
  /** What a program is preceded by, so that it sees nothing but its folder: it reads pictures that a page has drawn. */
  apart: (folder: string) => Promise<readonly string[]>;
}

export interface EncoderEnd {
  isWhole: boolean;
  /** It was killed, since it took no pictures or did not come to its end. */
  isTooSlow: boolean;
  /** What it said last, for the log. */
  said: string;
}

/** A process that makes an HLS playlist of pictures: one part of the recording of a tab. */
export interface Encoder {
  readonly playlistName: string;
  readonly initName: string;
  /** Resolves when the next picture may come. `atMs` counts from the beginning of the part. A broken one takes no more. */
  write(jpeg: Buffer, atMs: number): Promise<void>;
  /** Says that no picture comes any more, and waits until all is written. It is killed when that takes too long. */
  end(withinMs: number): Promise<EncoderEnd>;
  kill(): void;
  readonly isBroken: boolean;
  readonly ended: Promise<EncoderEnd>;
}

export interface EncodedPart {
  folder: string;
  number: number;
  /** Size of the part's first picture, in pixels; the others are scaled to it. */
  size: { width: number; height: number };
}

const INPUT = '-nostdin -loglevel error -probesize 32 -analyzeduration 0 -threads 1 -f matroska -i pipe:0 -an'.split(
  ' ',
);
/**
 * Options of ffmpeg for video of at most 1.5 Mbit/s: text stays legible at the size of the tab. Pictures are repeated so
 * that there are as many each second: players stumble over pictures of which it is not said how long they last.
 */
const VIDEO =
  '-c:v libx264 -preset veryfast -tune zerolatency -threads 1 -crf 27 -maxrate 1500k -bufsize 3000k -fps_mode cfr'.split(
    ' ',
  );
const PLAYLIST =
  '-f hls -hls_list_size 0 -hls_playlist_type event -hls_segment_type fmp4 -hls_flags independent_segments+temp_file'.split(
    ' ',
  );

/** H.264 of the usual form wants sides of even length. */
const even = (pixels: number): number => Math.min(SIDE_MAX, Math.max(2, Math.floor(pixels / 2) * 2));
const scaledTo = (width: number, height: number): string =>
  `scale=${width}:${height}:force_original_aspect_ratio=decrease,pad=${width}:${height}:-1:-1,setsar=1,format=yuv420p`;

const argumentsOf = ({ number, size: { width, height } }: EncodedPart): string[] => [
  ...INPUT,
  '-vf',
  scaledTo(even(width), even(height)),
  ...VIDEO,
  '-r',
  String(PICTURES_PER_SECOND),
  '-force_key_frames',
  `expr:gte(t,n_forced*${SEGMENT_SECONDS})`,
  ...PLAYLIST,
  '-hls_time',
  String(SEGMENT_SECONDS),
  '-hls_fmp4_init_filename',
  `part-${number}.mp4`,
  '-hls_segment_filename',
  `part-${number}-%05d.m4s`,
  playlistOf(number),
];

const playlistOf = (part: number): string => `part-${part}.m3u8`;

/** Starts to make a part of a recording in its folder. One that cannot be started is broken. */
export async function startEncoder({ program, apart }: EncoderProgram, part: EncodedPart): Promise<Encoder> {
  const { folder, number } = part;
  const command = [NICENESS, ...(await apart(folder)), program, ...argumentsOf(part)];
  const child = spawn('nice', ['-n', ...command], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const { stdin } = child;
  let isBroken = false;
  let isEnding = false;
  let isTooSlow = false;
  const ended = endOf(child).then(({ code, said }): EncoderEnd => {
    isBroken = true;
    // One that ends before it is told to has left pictures out, whatever it says.
    return { isWhole: code === 0 && isEnding, isTooSlow, said };
  });
  const kill = () => void child.kill('SIGKILL');
  const giveUp = () => {
    isTooSlow = !isBroken;
    kill();
  };
  // A pipe to a process that is gone says so by the end of the process.
  stdin.on('error', () => undefined);
  stdin.write(streamHead(part.size));
  return {
    playlistName: playlistOf(number),
    initName: `part-${number}.mp4`,
    ended,
    kill,
    get isBroken() {
      return isBroken;
    },
    async write(jpeg, atMs) {
      if (isBroken) return;
      stdin.write(pictureHead(jpeg.length, atMs));
      if (stdin.write(jpeg)) return;
      const { promise: drained, resolve } = Promise.withResolvers<void>();
      stdin.once('drain', resolve);
      await within(STALLED_MS, Promise.race([drained, ended]), giveUp);
      stdin.off('drain', resolve);
    },
    async end(withinMs) {
      isEnding = !isBroken;
      stdin.end();
      await within(withinMs, ended, giveUp);
      return ended;
    },
  };
}

async function endOf(child: ChildProcess): Promise<{ code: number | null; said: string }> {
  let said = '';
  child.stderr?.on('data', (piece: Buffer) => {
    said = (said + piece.toString()).slice(-MESSAGES_MAX);
  });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once('error', (error) => {
    said += error.message;
    resolve(null);
  });
  child.once('close', resolve);
  const code = await promise;
  return { code, said };
}
