import { useSyncExternalStore } from 'react';
import { t } from '../../messages/messages.ts';
import { exactTime, relativeTime } from './time-rules.ts';

const TICK_MS = 5_000;
let now = Date.now();
const watchers = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

function watchClock(watch: () => void): () => void {
  watchers.add(watch);
  ticking ??= setInterval(() => {
    now = Date.now();
    for (const each of watchers) each();
  }, TICK_MS);
  return () => {
    watchers.delete(watch);
    if (watchers.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  };
}

/** The time in ms, as it goes on by steps of some seconds: one timer for all that show times. */
export const useNow = (): number => useSyncExternalStore(watchClock, () => now);

interface TimeProps {
  /** ISO 8601, or ms. */
  at: string | number | null | undefined;
  /** Also shown on focus and pointer, in this zone beside that of the viewer. */
  timeZone?: string | undefined;
}

/** A moment as seen from now; exactly in its title, and in a hidden text, which screen readers read. */
export function Time({ at, timeZone }: TimeProps) {
  const current = useNow();
  if (at == null) return <>{t.parts.none}</>;
  const moment = new Date(at);
  // What happened since the clock was looked at last is now.
  const seen = Math.max(current, Date.now() - TICK_MS);
  const isJustNow = moment.getTime() > seen && moment.getTime() <= seen + TICK_MS;
  const exact = [exactTime(moment), ...(timeZone ? [exactTime(moment, timeZone)] : [])].join('\n');
  return (
    <time dateTime={moment.toISOString()} title={exact} style={{ position: 'relative' }}>
      {relativeTime(moment.getTime(), isJustNow ? moment.getTime() : seen)}
      <span className="visually-hidden"> ({exact})</span>
    </time>
  );
}

/** A moment in full, with how long ago in its title. */
export function ExactTime({ at, timeZone }: TimeProps) {
  const current = useNow();
  if (at == null) return <>{t.parts.none}</>;
  const moment = new Date(at);
  return (
    <time dateTime={moment.toISOString()} title={relativeTime(moment.getTime(), current)}>
      {exactTime(moment, timeZone)}
    </time>
  );
}
