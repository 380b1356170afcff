import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import {
  type BrowserRecording,
  movedTo,
  originOf,
  PLAY_MAX_MINUTES,
  type RecordedStep,
  STEP_MS,
} from '../../../domain/projects/policies/browser-recording-rules.ts';
import type { StepFailure } from '../../../domain/review/browser-checks/check-outcome-rules.ts';
import type {
  PlayableBrowser,
  PlayEnd,
  PlayRecording,
} from '../../../domain/review/browser-checks/recording-player.port.ts';
import { playStep } from './page-steps.ts';
import { PlayedPages, StepFailed, StepLost, Turn } from './played-page.ts';

const CONNECT_MS = 30_000;
/** What hangs in a page beyond the time of a step is left. */
const GRACE_MS = 5_000;
const CLOSED_MS = 100;

const lost = (reason: string): PlayEnd => ({ kind: 'lost', reason });

/** Plays recordings over the Chrome DevTools Protocol. */
export const playRecording: PlayRecording = async (browser, recording, { recordedAt, onStep, signal }) => {
  signal.throwIfAborted();
  const connected = await connect(browser);
  if (signal.aborted) await connected?.close().catch(() => undefined);
  signal.throwIfAborted();
  if (!connected) return lost('The browser could not be connected to');
  const watch = new AbortController();
  const leave = () => watch.abort();
  connected.on('disconnected', leave);
  signal.addEventListener('abort', leave, { once: true });
  try {
    const [main] = connected.contexts()[0]?.pages() ?? [];
    if (!main) return lost('The browser had no page');
    main.on('crash', leave);
    const moved = await atOrg(main, recording, recordedAt);
    if (!moved) return lost('The page at which the browser began is none of an org');
    return await playAll(new PlayedPages(main), moved, onStep, watch.signal);
  } finally {
    signal.removeEventListener('abort', leave);
    await connected.close().catch(() => undefined);
    signal.throwIfAborted();
  }
};

async function connect({ address, token }: PlayableBrowser): Promise<Browser | undefined> {
  // Where no recording is played, it is never loaded.
  const { chromium } = await import('playwright-core');
  const headers = { authorization: `Bearer ${token}` };
  // What it says of a failure holds the token.
  return chromium
    .connectOverCDP(address.replace(/^http/, 'ws'), { headers, timeout: CONNECT_MS })
    .catch(() => undefined);
}

/** The recording as it is played at the org where the browser began; undefined: that is not known. */
async function atOrg(
  main: Page,
  recording: BrowserRecording,
  recordedAt: string | undefined,
): Promise<BrowserRecording | undefined> {
  if (recordedAt === undefined) return recording;
  const origin = originOf(main.url());
  return origin === undefined ? undefined : movedTo(recording, recordedAt, origin);
}

async function playAll(
  pages: PlayedPages,
  { steps, timeout: usual = STEP_MS }: BrowserRecording,
  onStep: Parameters<PlayRecording>[2]['onStep'],
  signal: AbortSignal,
): Promise<PlayEnd> {
  const all = new Turn(PLAY_MAX_MINUTES * 60_000);
  for (const [at, step] of steps.entries()) {
    if (signal.aborted) return lost(`The browser was lost before step ${at + 1}`);
    if (all.isOver)
      return lost(`The recording took longer than ${PLAY_MAX_MINUTES} min: step ${at + 1} was not played`);
    const began = performance.now();
    const own = step.timeout ?? usual;
    const isCut = all.leftMs < own;
    const turn = new Turn(Math.min(own, all.leftMs));
    const { failure, lost: reason } = await endOf(pages, step, turn, signal);
    if (signal.aborted) return lost(`The browser was lost in step ${at + 1}`);
    if (reason !== undefined) return lost(`Step ${at + 1} could not be played: ${reason}`);
    if (failure && isCut && all.isOver)
      return lost(`The recording took longer than ${PLAY_MAX_MINUTES} min, and was ended in step ${at + 1}`);
    onStep({ at, durationMs: Math.round(performance.now() - began), ...(failure && { failure }) });
    if (failure) break;
  }
  return { kind: 'played' };
}

/** Neither: it passed, or the browser was lost. */
interface StepOutcome {
  failure?: StepFailure;
  /** Why it is not known whether it would pass. */
  lost?: string;
}

async function endOf(pages: PlayedPages, step: RecordedStep, turn: Turn, signal: AbortSignal): Promise<StepOutcome> {
  const over = Promise.withResolvers<undefined>();
  const leave = () => over.resolve(undefined);
  signal.addEventListener('abort', leave, { once: true });
  const hangs = setTimeout(() => over.reject(new StepFailed('timed_out', tooLong(turn))), turn.leftMs + GRACE_MS);
  const played = playStep(pages, step, turn);
  // It may go on after the step is given up.
  played.catch(() => undefined);
  try {
    await Promise.race([played, over.promise]);
    return {};
  } catch (error) {
    if (error instanceof StepFailed) return { failure: error.failure };
    if (error instanceof StepLost) return { lost: error.message };
    if (error instanceof Error && error.name === 'TimeoutError')
      return { failure: { reason: 'timed_out', detail: tooLong(turn) } };
    if (!pages.main.isClosed()) return { lost: 'the page did not take it: it was navigating, or refused it' };
    // That the connection broke is known a little after its pages were closed.
    await sleep(CLOSED_MS);
    return signal.aborted ? {} : { failure: { reason: 'target_not_found', detail: 'The page was closed' } };
  } finally {
    turn.end();
    clearTimeout(hangs);
    signal.removeEventListener('abort', leave);
  }
}

const tooLong = (turn: Turn): string => `It took longer than ${turn.text}`;
