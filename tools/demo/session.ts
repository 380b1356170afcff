import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { OperatorError } from '../operator-error.ts';
import type { DemoClient } from './client.ts';
import type { Say } from './collaborate.ts';
import { startCrmSimulator } from './crm-simulator.ts';
import { waitFor } from './wait.ts';

const SESSIONS = '/api/browser-sessions';
const HOST_MS = 15_000;
const LIVE_MS = 60_000;
const RECORDED_MS = 60_000;
const BROWSER_MS = 600_000;
/** What a recording may be longer or shorter than its session. */
const TOLERANCE_SECONDS = 1;
const NOTE = 'The tariff of berth 7 is right: approved.';
/** Milliseconds between keys, as people type. */
const KEY_MS = 60;
/** What is typed into, on a page of the simulated org, which has no forms. */
const FORM = `<label>Review notes <textarea id="notes" rows="8" cols="60" autofocus></textarea></label>`;

interface Session {
  id: string;
  status: string;
  statusReason: string | null;
  statusDetail: string | null;
  liveViewUrl: string;
  isolation: string | null;
  createdAt: string;
  liveAt: string;
  endedAt: string;
  recording: { state: string; pages: number; bytes: number; reason: string | null };
  timeline: { at: string; kind: string; summary: string }[];
}

/**
 * Allocates a browser at a simulated org, types in it by the Chrome DevTools Protocol, stops it, and plays its recording in
 * another browser. The session stays, with its recording.
 */
export async function showSession(api: DemoClient, { url, suffix }: { url: string; suffix: string }, say: Say) {
  const crm = await startCrmSimulator(suffix);
  try {
    const org = crm.org('acme-uat');
    const repositoryIdentifier = `demo/harbour-session-${suffix}`;
    await api.post('/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', defaultBranch: 'main' });
    await api.post('/api/auth/crm/register', { cliAuthUrl: org.authUrl });
    const { id: environmentId } = await api.post('/api/environments', {
      repositoryIdentifier,
      name: 'uat',
      category: 'test',
      orgUsername: org.username,
    });
    say(`project ${repositoryIdentifier}, whose environment uat is the simulated org ${org.username}`);
    await waitForHost(api);
    const session = await allocate(api, environmentId as string, say);
    await work(api, session, say);
    const ended = await stop(api, session, say);
    await play(api, url, ended, say);
  } finally {
    await crm.close();
  }
  say('the session stays with its recording: look at its run in the Temporal UI');
}

interface Providers {
  local: { available: boolean; reason: string | null };
}

/** A host begins to allocate some seconds after the service is ready. */
async function waitForHost(api: DemoClient): Promise<void> {
  const providers = async () => (await api.get(`${SESSIONS}/providers`)) as unknown as Providers;
  if (await waitFor(providers, ({ local }) => local.available, HOST_MS)) return;
  throw new OperatorError(`No browser can be allocated: ${(await providers()).local.reason}.`);
}

const sessionAt = async (api: DemoClient, id: string): Promise<Session> =>
  (await api.get(`${SESSIONS}/${id}`)) as unknown as Session;

async function allocate(api: DemoClient, environmentId: string, say: Say): Promise<Session> {
  const { id } = await api.post(`/api/environments/${environmentId}/browser/record`, { minutes: 5 });
  const session = await waitFor(
    () => sessionAt(api, id as string),
    ({ status }) => status !== 'provisioning',
    LIVE_MS,
  );
  if (session?.status !== 'live')
    throw new OperatorError(
      `The session is ${session?.status ?? 'not live in time'}: ${session?.statusDetail ?? '-'}.`,
    );
  const tookMs = Date.parse(session.liveAt) - Date.parse(session.createdAt);
  say(`live after ${tookMs} ms, ${session.isolation ?? 'isolation not known'}; watch it at`);
  say(`  ${session.liveViewUrl}`);
  return session;
}

/** Types into a form on the page that the session shows, as an automated test would. */
async function work(api: DemoClient, { id }: Session, say: Say): Promise<void> {
  const { url } = await api.post(`${SESSIONS}/${id}/connect`, {});
  const browser = await chromium.connectOverCDP(url as string);
  const page = browser.contexts()[0]?.pages()[0];
  if (!page) throw new OperatorError('The browser has no page.');
  say(`connected by CDP; the page says: ${(await page.innerText('body')).trim()}`);
  await page.evaluate(`document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(FORM)})`);
  await page.locator('#notes').pressSequentially(NOTE, { delay: KEY_MS });
  const typed = await page.locator('#notes').inputValue();
  if (typed !== NOTE) throw new OperatorError(`What was typed is not there: ${typed}.`);
  say(`typed: ${typed}`);
  // A still page is recorded, too.
  await sleep(3_000);
  await browser.close();
}

async function stop(api: DemoClient, { id }: Session, say: Say): Promise<Session> {
  await api.post(`${SESSIONS}/${id}/stop`, {});
  const ended = await waitFor(
    () => sessionAt(api, id),
    ({ recording: { state } }) => state !== 'recording' && state !== 'processing',
    RECORDED_MS,
  );
  if (!ended) throw new OperatorError('The recording was not there in time.');
  const { recording, timeline } = ended;
  for (const { at, kind, summary } of timeline.toReversed()) say(`  ${at}  ${kind.padEnd(16)} ${summary}`);
  if (recording.state !== 'ready')
    throw new OperatorError(`The recording is ${recording.state}: ${recording.reason ?? '-'}.`);
  say(`recorded: ${recording.pages} page, ${Math.round(recording.bytes / 1_000)} kB`);
  return ended;
}

/** Plays the recording to its end in a browser, and compares its length with that of the session. */
async function play(api: DemoClient, url: string, { id, liveAt, endedAt }: Session, say: Say): Promise<void> {
  const program = join(import.meta.dirname, '../../.ci/browser');
  const { stdout } = await promisify(execFile)(program, { timeout: BROWSER_MS });
  const browser = await chromium.launch({ executablePath: stdout.trim() });
  try {
    const page = await browser.newPage({ extraHTTPHeaders: { authorization: api.authorization } });
    await page.route('**/player', (route) =>
      route.fulfill({ contentType: 'text/html', body: `<video muted src="${SESSIONS}/${id}/replays/0"></video>` }),
    );
    await page.goto(`${url}/player`);
    const seconds = await page.evaluate<number>(PLAY);
    const lasted = (Date.parse(endedAt) - Date.parse(liveAt)) / 1_000;
    const difference = seconds - lasted;
    say(`played ${seconds.toFixed(1)} s of a session that was live for ${lasted.toFixed(1)} s`);
    if (Math.abs(difference) > TOLERANCE_SECONDS)
      throw new OperatorError(
        `The recording is ${Math.abs(difference).toFixed(1)} s too ${difference > 0 ? 'long' : 'short'}.`,
      );
  } finally {
    await browser.close();
  }
}

/** Plays the page's video to its end, eight times as fast; its value is the length in seconds. */
const PLAY = `new Promise((resolve, reject) => {
  const video = document.querySelector('video');
  video.onended = () => resolve(video.currentTime);
  video.onerror = () => reject(new Error('the recording does not play: ' + video.error.message));
  video.playbackRate = 8;
  video.play().catch(reject);
})`;
