import { clockAt, momentOfClock } from '../../kernel/text/local-time-rules.ts';
import {
  DAYS,
  type Freeze,
  type PromotionPolicy,
  type PromotionWindow,
} from '../../projects/policies/promotion-policy-rules.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** A window whose times a clock change skips is open again a week later. */
const SEARCHED_DAYS = 15;
/**
 * How many openings are tried at least for several environments, whose windows may never meet; the search goes through
 * `SEARCHED_DAYS` in any case.
 */
const STEPS_MIN = 100;

type Times = Pick<PromotionPolicy, 'windows' | 'freezes'>;

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

interface Span {
  start: number;
  end: number;
}

const spans = new WeakMap<PromotionWindow, Map<number, Span>>();

/** The window that begins on a day. @param day its midnight, as `clockAt` answers it. */
function spanOn(window: PromotionWindow, day: number): Span {
  const ofWindow = spans.get(window) ?? new Map<number, Span>();
  spans.set(window, ofWindow);
  const known = ofWindow.get(day);
  if (known) return known;
  const { from, to, timezone } = window;
  const [begin, end] = [minutesOf(from), minutesOf(to)];
  const span = {
    start: momentOfClock(day + begin * MINUTE_MS, timezone),
    end: momentOfClock(day + end * MINUTE_MS + (end <= begin ? DAY_MS : 0), timezone),
  };
  ofWindow.set(day, span);
  return span;
}

const weekdayOf = (day: number) => DAYS[(new Date(day).getUTCDay() + 6) % DAYS.length];

/** When a window is open for the first time from a moment on: that moment itself when it is open then. */
function firstOpen(window: PromotionWindow, from: number): number | undefined {
  const today = Math.floor(clockAt(from, window.timezone) / DAY_MS) * DAY_MS;
  // The window of the day before may go over midnight, and a calendar may skip a day.
  for (let day = today - 2 * DAY_MS; day <= today + SEARCHED_DAYS * DAY_MS; day += DAY_MS) {
    if (!window.days.some((each) => each === weekdayOf(day))) continue;
    const { start, end } = spanOn(window, day);
    if (end > from && end > start) return Math.max(start, from);
  }
  return undefined;
}

/** The freeze that holds at a moment. */
export const freezeAt = ({ freezes = [] }: Times, moment: number): Freeze | undefined =>
  freezes.find(({ from, to }) => Date.parse(from) <= moment && moment < Date.parse(to));

/** The first moment from another on at which a deployment may begin: that other itself when it may then; null: never. */
export function nextOpening(times: Times, from: number): number | null {
  const { windows = [] } = times;
  let moment = from;
  for (;;) {
    const freeze = freezeAt(times, moment);
    if (freeze) {
      moment = Date.parse(freeze.to);
      continue;
    }
    if (windows.length === 0) return moment;
    const opens = windows.flatMap((window) => firstOpen(window, moment) ?? []);
    if (opens.length === 0) return null;
    const first = Math.min(...opens);
    if (first === moment) return moment;
    moment = first;
  }
}

/** When the freeze ends that holds at a moment, and those that follow it without a gap; null: none holds. */
export function thawAfter({ freezes }: Times, moment: number): number | null {
  const thaw = nextOpening({ freezes }, moment);
  return thaw === moment ? null : thaw;
}

/**
 * When a deployment to several environments at once may begin, in epoch milliseconds; null: their windows do not meet in the
 * foreseeable future.
 */
export function nextCommonOpening(all: readonly Times[], from: number): number | null {
  const thaws = all.flatMap(({ freezes = [] }) => freezes.map(({ to }) => Date.parse(to)));
  const isSearched = (moment: number) =>
    moment > Math.max(from, ...thaws.filter((thaw) => thaw <= moment)) + SEARCHED_DAYS * DAY_MS;
  let moment = from;
  for (let step = 0; step < STEPS_MIN || !isSearched(moment); step++) {
    const opens = all.map((times) => nextOpening(times, moment));
    if (opens.some((open) => open === null)) return null;
    const latest = Math.max(moment, ...opens.map(Number));
    if (latest === moment) return moment;
    moment = latest;
  }
  return null;
}
