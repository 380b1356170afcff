import { isAbove, levelOf, type LimitLevel, type Thresholds } from './limit-level-rules.ts';

/** What was announced of a limit, which lags behind its level so that one around a threshold is not announced anew. */
export interface AlertState {
  announced: LimitLevel;
  /** Polls in a row, of two, that found it five points below the critical and the warning level. */
  belowCritical: number;
  belowWarning: number;
}

export const NO_ALERT: AlertState = { announced: 'ok', belowCritical: 0, belowWarning: 0 };

/** A level ends after so many polls in a row that are so many points below it. */
const POLLS = 2;
const POINTS = 5;

export interface AlertStep extends AlertState {
  event?: 'warning' | 'critical' | 'recovered';
}

/**
 * What a poll means for the alert of a limit. Each rise is one event; `recovered` comes after two polls in a row that
 * are five points below the warning level, or at 0. A critical level ends in the same way, without an event.
 */
export function nextAlert(before: AlertState, pct: number, thresholds: Thresholds): AlertStep {
  if (thresholds.isIgnored) return NO_ALERT;
  const level = levelOf(pct, thresholds);
  if (level !== 'ok' && isAbove(level, before.announced)) return { ...NO_ALERT, announced: level, event: level };
  if (before.announced === 'ok') return NO_ALERT;
  const belowCritical = pct <= thresholds.critical - POINTS ? before.belowCritical + 1 : 0;
  const belowWarning = pct <= Math.max(0, thresholds.warning - POINTS) ? before.belowWarning + 1 : 0;
  if (belowWarning >= POLLS) return { ...NO_ALERT, event: 'recovered' };
  const announced = belowCritical >= POLLS ? 'warning' : before.announced;
  return { announced, belowCritical: Math.min(belowCritical, POLLS), belowWarning };
}
