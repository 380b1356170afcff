import type { PlatformLimit } from '../crm/crm-platform.port.ts';
import { forecastOf, type UsedAt } from './forecast-rules.ts';
import { type AlertState, nextAlert, NO_ALERT } from './limit-alert-rules.ts';
import { isAbove, levelOf, type LimitLevel, type LimitSettings, thresholdsOf, usagePct } from './limit-level-rules.ts';

/** More names than this are ignored: an org has some 60. */
export const LIMITS_MAX = 500;

/** Other names are no limits: an org could put anything there, also what the database cannot hold. */
const LIMIT_NAME = /^[\w .:-]{1,100}$/;

/** A limit as the last poll found it. Its place in the list of its org never changes: samples refer to it. */
export interface LimitState extends AlertState {
  name: string;
  /** Null when the last answer did not have the limit. */
  max: number | null;
  used: number;
  level: LimitLevel;
  /** No project wants alerts of it. */
  isIgnored?: boolean;
  /** Epoch milliseconds at which it will be used up; see `forecastOf`. */
  forecastAt: number | null;
  /** Epoch milliseconds of the first poll in a row that found it used up within a day; absent: the last one did not. */
  breaksSince?: number;
}

/** Time in which somebody can still do something about a limit. */
const BREAKS_WITHIN_MS = 86_400_000;

/** Whether a limit will be used up within a day, by its forecast. */
const isBreaking = (forecastAt: number | null, now: number): boolean =>
  forecastAt !== null && forecastAt <= now + BREAKS_WITHIN_MS;

export type WorstLimit = { name: string; usagePct: number; alertLevel: LimitLevel; forecastAt: string | null };

/** A change of level that is announced. */
export interface LimitChange {
  event: 'warning' | 'critical' | 'recovered';
  limit: LimitState;
  previousLevel: LimitLevel;
}

export interface PolledLimits {
  limits: LimitState[];
  changes: LimitChange[];
}

/**
 * The limits of an org after a poll.
 * @param known as the poll before left them.
 * @param history of a limit by its place, of the last 24 hours, the oldest first, without this poll.
 */
export function limitsAfter(
  known: readonly LimitState[],
  answer: readonly PlatformLimit[],
  projects: readonly LimitSettings[],
  polledAt: number,
  history: (place: number) => readonly UsedAt[],
): PolledLimits {
  const answered = new Map(answer.flatMap((limit) => (LIMIT_NAME.test(limit.name) ? [[limit.name, limit]] : [])));
  const names = [...new Set([...known.map(({ name }) => name), ...answered.keys()])].slice(0, LIMITS_MAX);
  const changes: LimitChange[] = [];
  const limits = names.map((name, place): LimitState => {
    const { breaksSince, ...before }: LimitState = known[place] ?? {
      name,
      max: null,
      used: 0,
      level: 'ok',
      forecastAt: null,
      ...NO_ALERT,
    };
    const now = answered.get(name);
    if (!now) return { ...before, max: null, level: 'ok', forecastAt: null };
    const max = exact(now.max);
    const used = Math.max(0, exact(now.max - now.remaining));
    const thresholds = thresholdsOf(projects, name);
    const pct = usagePct(used, max);
    const { event, ...alert } = nextAlert(before, pct, thresholds);
    const forecastAt = forecastOf(name, [...history(place), { at: polledAt, used }], max);
    const limit: LimitState = {
      name,
      max,
      used,
      level: levelOf(pct, thresholds),
      ...alert,
      ...(thresholds.isIgnored && { isIgnored: true }),
      forecastAt,
      ...(isBreaking(forecastAt, polledAt) && { breaksSince: breaksSince ?? polledAt }),
    };
    if (event) changes.push({ event, limit, previousLevel: before.announced });
    return limit;
  });
  return { limits, changes };
}

const exact = (value: number): number =>
  Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.round(value)));

/** A limit as replies and events show it. */
export const shownLimit = ({ name, max, used, level, forecastAt }: LimitState) => ({
  name,
  max: max ?? 0,
  used,
  remaining: (max ?? 0) - used,
  usagePct: usagePct(used, max ?? 0),
  alertLevel: level,
  forecastAt: forecastAt === null ? null : new Date(forecastAt).toISOString(),
});
export type ShownLimit = ReturnType<typeof shownLimit>;

/** Limits that the last answer had. */
export const shownLimits = (limits: readonly LimitState[]): ShownLimit[] =>
  limits.filter(({ max }) => max !== null).map(shownLimit);

/** The limit of the highest level and, of several, the one that is fullest; ignored limits and those of 0 are passed over. */
export function worstOf(limits: readonly LimitState[]): WorstLimit | null {
  let worst: WorstLimit | null = null;
  for (const limit of limits) {
    if (limit.isIgnored || limit.max === null || limit.max <= 0) continue;
    const { name, usagePct: pct, alertLevel, forecastAt } = shownLimit(limit);
    const isWorse =
      worst === null ||
      isAbove(alertLevel, worst.alertLevel) ||
      (alertLevel === worst.alertLevel && pct > worst.usagePct);
    if (isWorse) worst = { name, usagePct: pct, alertLevel, forecastAt };
  }
  return worst;
}
