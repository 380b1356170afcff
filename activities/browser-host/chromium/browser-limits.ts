import type { BrowserEnd } from './browser.ts';
import { folderBytes } from './browser-folder.ts';
import { memoryOf } from './processes.ts';

const MEGABYTE = 1_000_000;
const MEMORY_EVERY_MS = 1_000;
const PROFILE_EVERY_MS = 4_000;

/** In bytes. A browser that uses more ends with `resource_limit`. */
export interface BrowserLimits {
  memoryBytes: number;
  profileBytes: number;
  /** Through the egress proxy, in both directions. */
  trafficBytes: number;
}

export const LIMITS: BrowserLimits = {
  memoryBytes: 1_500 * MEGABYTE,
  profileBytes: 500 * MEGABYTE,
  trafficBytes: 1_000 * MEGABYTE,
};

/** Looks at a browser's memory each second, at its profile every 4 seconds; the answer ends that. */
export function watchLimits(
  { memoryBytes, profileBytes }: BrowserLimits,
  { session, profile }: { session: number; profile: string },
  onUsedUp: (end: BrowserEnd) => void,
): () => void {
  const usedUp = (what: string, bytes: number) =>
    onUsedUp({ reason: 'resource_limit', detail: `The browser ${what} ${megabytes(bytes)}` });
  const memory = setInterval(() => {
    if (memoryOf(session) > memoryBytes) usedUp('used more memory than', memoryBytes);
  }, MEMORY_EVERY_MS);
  let isLooking = false;
  const lookAtProfile = async () => {
    if (isLooking) return;
    isLooking = true;
    if ((await folderBytes(profile)) > profileBytes) usedUp('kept more on disk than', profileBytes);
    isLooking = false;
  };
  const disk = setInterval(() => void lookAtProfile(), PROFILE_EVERY_MS);
  return () => {
    clearInterval(memory);
    clearInterval(disk);
  };
}

export const trafficUsedUp = ({ trafficBytes }: BrowserLimits): BrowserEnd => ({
  reason: 'resource_limit',
  detail: `The browser moved more than ${megabytes(trafficBytes)}`,
});

const megabytes = (bytes: number): string => `${Math.round(bytes / MEGABYTE)} MB`;
