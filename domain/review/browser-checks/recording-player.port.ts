import type { BrowserRecording } from '../../projects/policies/browser-recording-rules.ts';
import type { StepFailure } from './check-outcome-rules.ts';

/** A browser to which one connection is let. */
export interface PlayableBrowser {
  /** `http://` address of the browser host. */
  address: string;
  /** Lets one connection in. A secret: it is kept and written nowhere. */
  token: string;
}

/** How a step ended. */
export interface StepEnd {
  /** From 0 on. */
  at: number;
  durationMs: number;
  /** Undefined: it passed. */
  failure?: StepFailure | undefined;
}

/**
 * What became of a recording.
 * - `played`: all steps passed, or the last that was told of failed; what comes after that is not played.
 * - `lost`: the browser could not be reached, or was lost on the way. `reason` may be shown to people.
 */
export type PlayEnd = { kind: 'played' } | { kind: 'lost'; reason: string };

/**
 * Plays a recording in the first page of a browser, once. What it says of scripts runs in the page alone. Rejects only when
 * `signal` aborts, with its reason; nothing is done in the page from then on.
 */
export type PlayRecording = (
  browser: PlayableBrowser,
  recording: BrowserRecording,
  options: { recordedAt?: string | undefined; onStep: (end: StepEnd) => void; signal: AbortSignal },
) => Promise<PlayEnd>;
