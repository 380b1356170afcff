import type { ProviderAnswer, Replays } from '../browser-provider.port.ts';
import { isPassing, pauseMs } from '../provider-failure-rules.ts';

/** How long a recording may be put in order, or its provider be away. */
const PROCESSED_WITHIN_MS = 10 * 60_000;
/** How long a provider may know the session, and no recording of it. */
const KNOWN_WITHIN_MS = 45_000;
const LOOK_FIRST_MS = 500;
const LOOK_MAX_MS = 5_000;

/** How long to wait before a provider is asked again for the recording of a session that has ended. */
export const lookAgainMs = (attempt: number): number => Math.min(LOOK_MAX_MS, pauseMs(LOOK_FIRST_MS, attempt));

/**
 * Why there will be no recording, for people, by what its provider answered last; undefined: it is not given up.
 * @param found undefined: there is no such provider any more. @param waitedMs since it was asked first.
 */
export function whyNoRecording(found: ProviderAnswer<Replays> | undefined, waitedMs: number): string | undefined {
  if (!found) return 'Its provider is not set up any more.';
  if (!found.isOk && found.kind === 'in_progress') return waitedMs > KNOWN_WITHIN_MS ? found.message : undefined;
  if (!found.isOk && !isPassing(found)) return found.message;
  if (waitedMs <= PROCESSED_WITHIN_MS) return undefined;
  return found.isOk ? 'The recording was not there in time.' : found.message;
}
