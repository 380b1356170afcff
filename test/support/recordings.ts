import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { SessionBrowser } from '../../activities/browser-host/chromium/browser.ts';
import type { RecorderParts } from '../../activities/browser-host/recording/recorder.ts';
import { isolatedBy } from '../../activities/adapters/isolated/isolation.ts';
import { segmentsOf } from '../../domain/review/browser-sessions/recordings/recorded-playlist-rules.ts';
import type { TestApp } from './app.ts';
import { FakeSessionBrowser } from './fake-session-browser.ts';
import { recordedSession } from './recorded-session.ts';

const PICTURES = 10;
/** Five a second. */
const PICTURE_MS = 200;

/** JPEGs that differ. */
export function drawPictures(size = '640x360'): Buffer[] {
  const folder = mkdtempSync(join(tmpdir(), 'quayside-pictures-'));
  const source = ['-f', 'lavfi', '-i', `testsrc=size=${size}:rate=5`, '-frames:v', String(PICTURES)];
  execFileSync('ffmpeg', ['-loglevel', 'error', ...source, join(folder, '%02d.jpg')]);
  const pictures = readdirSync(folder)
    .toSorted()
    .map((name) => readFileSync(join(folder, name)));
  rmSync(folder, { recursive: true });
  return pictures;
}

/** Takes pictures of a tab that changes, until the answer is called. */
export function animate(browser: FakeSessionBrowser, tab: number, pictures: readonly Buffer[]): () => void {
  let taken = 0;
  const take = () => browser.take(tab, pictures[taken++ % pictures.length]);
  take();
  const timer = setInterval(take, PICTURE_MS);
  return () => clearInterval(timer);
}

/** Encoders as hosts start them. */
export const encoder = (): RecorderParts['encoder'] => ({
  program: 'ffmpeg',
  apart: (folder) => isolatedBy({ folder, readable: [] }),
});

/** A session that is live, with a browser that is none. */
export async function liveBrowser(
  app: Pick<TestApp, 'db' | 'objects' | 'tenant'>,
  projectId: string,
): Promise<FakeSessionBrowser & SessionBrowser> {
  const sessionId = await recordedSession(app, { projectId, recordingState: 'recording', isLive: true });
  return new FakeSessionBrowser({ sessionId, tenantId: app.tenant.id, projectId });
}

export interface PlayedPage {
  /** What the playlist says. */
  seconds: number;
  /** How long the video is that a player decodes, and how many pictures it has. */
  playedSeconds: number;
  pictures: number;
  /** `640x360` */
  size: string;
  playlist: string;
}

/** Plays a page of a session as the API serves it, to its end. */
export async function play(app: TestApp, sessionId: string, pageId = 0): Promise<PlayedPage> {
  const path = `/api/browser-sessions/${sessionId}/replays/${pageId}`;
  const { text: playlist } = await app.as(app.owner).request(200, 'GET', path);
  const folder = mkdtempSync(join(tmpdir(), 'quayside-played-'));
  try {
    let files = 0;
    const local: string[] = [];
    for (const line of playlist.split('\n')) {
      const [url] = /http:[^"]+/.exec(line) ?? [];
      if (url === undefined) {
        local.push(line);
        continue;
      }
      const answer = await fetch(url.replace('http://quayside.test', app.url), {
        headers: { authorization: `Bearer ${app.owner.token}` },
      });
      if (answer.status !== 200) throw new Error(`a file of the recording was answered with ${answer.status}`);
      const name = `${files++}.mp4`;
      writeFileSync(join(folder, name), Buffer.from(await answer.arrayBuffer()));
      local.push(line.replace(url, name));
    }
    const file = join(folder, 'playlist.m3u8');
    writeFileSync(file, local.join('\n'));
    const show = ['-show_entries', 'packet=pts_time:stream=width,height', '-of', 'json'];
    const { stdout } = await promisify(execFile)(
      'ffprobe',
      ['-v', 'error', '-allowed_extensions', 'ALL', '-select_streams', 'v', ...show, file],
      { maxBuffer: 2 ** 26 },
    );
    const { packets, streams } = JSON.parse(stdout) as {
      packets: { pts_time: string }[];
      streams: { width: number; height: number }[];
    };
    const decode = ['-v', 'error', '-xerror', '-allowed_extensions', 'ALL', '-i', file, '-f', 'null', '-'];
    await promisify(execFile)('ffmpeg', decode);
    const times = packets.map(({ pts_time: time }) => Number(time));
    return {
      seconds: segmentsOf(playlist).reduce((sum, { seconds }) => sum + seconds, 0),
      playedSeconds: Math.max(...times) - Math.min(...times),
      pictures: packets.length,
      size: streams.map(({ width, height }) => `${width}x${height}`).join(),
      playlist,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Records a session in a process of its own, with a tab that changes.
 * @param command what starts it, before the program and its arguments.
 */
export function startRecordingHost(
  { env }: Pick<TestApp, 'env'>,
  owner: SessionBrowser['owner'],
  folder: string,
  command: readonly string[] = [],
): { kill: () => Promise<void>; finish: () => Promise<void> } {
  const script = fileURLToPath(new URL('./recording-host.ts', import.meta.url));
  const [program, ...args] = [...command, process.execPath, script, JSON.stringify(owner), folder];
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ended = once(child, 'exit');
  hosts.add(child);
  return {
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async finish() {
      child.stdin.end();
      await ended;
    },
  };
}

const hosts = new Set<ChildProcess>();

/** Ends those that a failed test left. */
export async function endRecordingHosts(): Promise<void> {
  for (const host of hosts) {
    if (host.exitCode !== null || host.signalCode !== null) continue;
    const ended = once(host, 'exit');
    host.kill('SIGKILL');
    await ended;
  }
}
