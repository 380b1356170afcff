const HOUR_MS = 3_600_000;
/** Clocks are at most 14 hours ahead of UTC, and 12 behind. */
const AHEAD_MS = 15 * HOUR_MS;
const BEHIND_MS = 13 * HOUR_MS;
/** Names of zones are known in any case of their letters: the cache is bounded. */
const ZONES_MAX = 1_000;

const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(timezone: string): Intl.DateTimeFormat {
  let clock = clocks.get(timezone);
  if (!clock) {
    clock = new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    if (clocks.size >= ZONES_MAX) clocks.clear();
    clocks.set(timezone, clock);
  }
  return clock;
}

/** What clocks of a zone show at a moment: milliseconds since the epoch, as if they showed UTC. */
export function clockAt(moment: number, timezone: string): number {
  const { year, month, day, hour, minute, second } = Object.fromEntries(
    clockOf(timezone)
      .formatToParts(moment)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>;
  return Date.UTC(year, month - 1, day, hour, minute, second) + (moment - Math.floor(moment / 1_000) * 1_000);
}

const offsetAt = (moment: number, timezone: string): number => clockAt(moment, timezone) - moment;

/**
 * The first moment at which clocks of a zone show a time, or a later one: a time that comes twice is the first of the
 * two, and one that is skipped the first that exists.
 * @param shown as `clockAt` answers it.
 */
export function momentOfClock(shown: number, timezone: string): number {
  let before = shown - AHEAD_MS;
  let after = shown + BEHIND_MS;
  const offsetBefore = offsetAt(before, timezone);
  const offsetAfter = offsetAt(after, timezone);
  if (offsetBefore === offsetAfter) return shown - offsetBefore;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsetAt(middle, timezone) === offsetBefore) before = middle;
    else after = middle;
  }
  return shown - offsetBefore < after ? shown - offsetBefore : Math.max(after, shown - offsetAfter);
}
