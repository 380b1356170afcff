import type {
  MetricCheck,
  RehearsalCheck,
  VerificationCheck,
} from '../../projects/policies/verification-policy-rules.ts';

/** What may become of the verification of a deployment. */
const VERIFICATION_MOVES = {
  pending: ['running', 'failed', 'superseded'],
  running: ['verified', 'failed', 'superseded'],
  verified: [],
  failed: [],
  superseded: [],
} as const satisfies Record<string, readonly string[]>;

/**
 * - `pending`: it has not begun.
 * - `superseded`: something else was deployed, or this was taken back, before it ended.
 */
export type VerificationState = keyof typeof VERIFICATION_MOVES;

export const VERIFICATION_STATES = Object.keys(VERIFICATION_MOVES) as VerificationState[];

/** States in which it goes on. */
export const OPEN_STATES = VERIFICATION_STATES.filter((state) => VERIFICATION_MOVES[state].length > 0);

/** What may become of one of its checks. */
const CHECK_MOVES = {
  pending: ['running', 'passed', 'failed', 'skipped'],
  running: ['passed', 'failed', 'skipped'],
  passed: [],
  failed: [],
  skipped: [],
} as const satisfies Record<string, readonly string[]>;

/** `skipped`: the verification ended before it. */
export type CheckState = keyof typeof CHECK_MOVES;

export const CHECK_STATES = Object.keys(CHECK_MOVES) as CheckState[];

export const isCheckOpen = (state: CheckState): boolean => CHECK_MOVES[state].length > 0;

/** States that a check may have before it moves to one. */
export const checkStatesBefore = (next: CheckState): CheckState[] =>
  CHECK_STATES.filter((state) => (CHECK_MOVES[state] as readonly CheckState[]).includes(next));

/** States that a verification may have before it moves to one. */
export const statesBefore = (next: VerificationState): VerificationState[] =>
  VERIFICATION_STATES.filter((state) => (VERIFICATION_MOVES[state] as readonly VerificationState[]).includes(next));

const MINUTE_MS = 60_000;
/** How long the store of metrics may be away once the time of a check is over. */
const STORE_AWAY_MINUTES = 30;
/** The most moments of a check at which a metric is looked at: from 50 on, the store rounds the times that it is asked for. */
const MOMENTS_MAX = 48;

/** When a check that has no end has failed, in milliseconds since the epoch. */
export function overdueAt(check: VerificationCheck, begunAt: number): number {
  const minutes = 'timeoutMinutes' in check ? check.timeoutMinutes : check.minutes + STORE_AWAY_MINUTES;
  return begunAt + minutes * MINUTE_MS;
}

/** What is looked at again and again for some minutes. */
export type Watched = MetricCheck | RehearsalCheck;

/** Whether a check is looked at by the verification itself, instead of a run. */
export const isWatched = (check: VerificationCheck): check is Watched => 'minutes' in check;

/** Whether the time of a check is over. */
export const isOver = ({ minutes }: Watched, begunAt: number, now: number): boolean =>
  now >= begunAt + minutes * MINUTE_MS;

const stepOf = (minutes: number): number => Math.max(MINUTE_MS, Math.ceil((minutes * MINUTE_MS) / MOMENTS_MAX));

/** What is asked of the metrics for a check now, in milliseconds; undefined: it is too early. */
export function metricSpan({ minutes }: MetricCheck, begunAt: number, now: number): MetricSpan | undefined {
  const until = begunAt + minutes * MINUTE_MS;
  const stepMs = stepOf(minutes);
  const to = Math.min(now, until);
  const from = begunAt + stepMs;
  return to < from ? undefined : { from, to, stepMs, isLast: now >= until };
}

export interface MetricSpan {
  from: number;
  to: number;
  stepMs: number;
  /** The time of the check is over. */
  isLast: boolean;
}

/** When values or calls are looked at next; once their time is over, there was no answer. */
export function nextLookAt({ minutes }: Watched, begunAt: number, now: number): number {
  const until = begunAt + minutes * MINUTE_MS;
  return now < until ? Math.min(now + stepOf(minutes), until) : now + MINUTE_MS;
}

/** What a check came to; undefined: it goes on. */
export interface CheckOutcome {
  state: 'passed' | 'failed';
  detail: string;
}

/** What values of a metric say of its bounds. */
export function judgeValues(
  { min, max, minutes }: MetricCheck,
  values: readonly { at: number; value: number }[],
  isLast: boolean,
): CheckOutcome | undefined {
  // What is no number says nothing: a rate of nothing.
  const known = values.filter(({ value }) => !Number.isNaN(value));
  const outside = known.find(({ value }) => (min !== undefined && value < min) || (max !== undefined && value > max));
  if (outside) {
    const { at, value } = outside;
    const bound = min !== undefined && value < min ? `below ${min}` : `above ${max}`;
    return { state: 'failed', detail: `${value} at ${new Date(at).toISOString()} is ${bound}` };
  }
  if (!isLast) return undefined;
  if (known.length === 0) return { state: 'failed', detail: `The query had no value in ${minutes} min` };
  return { state: 'passed', detail: `${known.length} values in ${minutes} min were within the bounds` };
}

/**
 * What the calls of a mock scenario say of how many are expected.
 * @param failure undefined: they are as many as that.
 */
export function judgeCalls(
  { atLeast, atMost = Number.POSITIVE_INFINITY }: RehearsalCheck,
  failure: { reason: string; found: number } | undefined,
  isLast: boolean,
): CheckOutcome | undefined {
  if (failure && failure.found > atMost)
    return { state: 'failed', detail: `${failure.found} calls came, more than ${atMost}` };
  if (!isLast && (failure || Number.isFinite(atMost))) return undefined;
  if (!failure) return { state: 'passed', detail: 'The calls that are expected came' };
  return failure.reason === 'unknown'
    ? { state: 'failed', detail: 'Of some calls it is not known whether they are those expected' }
    : { state: 'failed', detail: `${failure.found} calls came, fewer than ${atLeast}` };
}

/** What the newest verification of a release's last deployment to an environment says. */
export interface VerificationFact {
  /** Null: there is none. */
  state: VerificationState | null;
  /** In milliseconds since the epoch. */
  endedAt: number | null;
  detail: string | null;
}

/** Why a deployment does not count as verified, for people: `uat: it failed (…)`. */
export function whyUnverified(name: string, fact: VerificationFact | undefined): string {
  const { state = null, detail = null } = fact ?? {};
  const why = detail === null ? '' : ` (${detail})`;
  switch (state) {
    case null:
      return `in ${name} none was begun`;
    case 'pending':
    case 'running':
      return `in ${name} it goes on`;
    case 'failed':
      return `in ${name} it failed${why}`;
    case 'superseded':
      return `in ${name} it was superseded${why}`;
    case 'verified':
      return `in ${name} it succeeded`;
  }
}

/** Whether a verification may still end without anything being deployed again. */
export const isVerifying = (fact: VerificationFact | undefined): boolean =>
  fact?.state !== null && fact?.state !== undefined && OPEN_STATES.includes(fact.state);
