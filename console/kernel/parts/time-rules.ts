const STEPS = [
  [60, 'second', 1],
  [3_600, 'minute', 60],
  [86_400, 'hour', 3_600],
  [30 * 86_400, 'day', 86_400],
  [365 * 86_400, 'month', 30 * 86_400],
  [Number.POSITIVE_INFINITY, 'year', 365 * 86_400],
] as const;

/** `at` as seen from `now` (both in ms): "3 minutes ago", "in 2 hours". */
export function relativeTime(at: number, now: number, locale = 'en'): string {
  const seconds = Math.round((at - now) / 1_000);
  const [, unit, size] = STEPS.find(([limit]) => Math.abs(seconds) < limit) ?? STEPS[5];
  return new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }).format(
    Math.trunc(seconds / size),
    unit,
  );
}

/** A moment in full, in the zone of the viewer or in another one, with the zone's name. */
export const exactTime = (at: string | number | Date, timeZone?: string, locale = 'en-GB'): string =>
  new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'long',
    ...(timeZone !== undefined && { timeZone }),
  }).format(new Date(at));

/** Milliseconds as people say them: "3 s", "12 min", "2 h 5 min", "3 d 4 h". */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`;
}
