interface ClockOptions {
  timeZone?: string | undefined;
  /** `short`: without seconds. */
  timeStyle?: 'short' | 'medium';
}

/** A moment by the clock; with its day where that is not today. */
export function clockTime(at: string, now: number, { timeZone, timeStyle = 'medium' }: ClockOptions = {}): string {
  const zone = timeZone === undefined ? {} : { timeZone };
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', ...zone });
  const isToday = day.format(new Date(at)) === day.format(now);
  const shown = { timeStyle, ...(!isToday && { dateStyle: 'medium' as const }), ...zone };
  return new Intl.DateTimeFormat('en-GB', shown).format(new Date(at));
}
