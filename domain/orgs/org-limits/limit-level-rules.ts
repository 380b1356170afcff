import { isObject } from '../../kernel/json/json-rules.ts';

/** How full a limit is, by the thresholds that hold for it. */
export const LIMIT_LEVELS = ['ok', 'warning', 'critical'] as const;
export type LimitLevel = (typeof LIMIT_LEVELS)[number];

const DEFAULT_WARNING_PCT = 75;
const DEFAULT_CRITICAL_PCT = 90;

interface Percentages {
  warning?: number;
  critical?: number;
}

/** What a project says of the limits of its orgs: `metricsAlertConfig.orgLimits`. */
export interface LimitSettings extends Percentages {
  /** By name of the limit; what one leaves out is as for the others. */
  overrides: Record<string, Percentages>;
  /** Names of limits that raise no alert. */
  ignore: string[];
}

export interface Thresholds {
  /** Per cent from which the level holds. */
  warning: number;
  critical: number;
  isIgnored: boolean;
}

function percentagesOf(given: Record<string, unknown>): Percentages {
  const percentage = (name: 'warning' | 'critical') => {
    const value = given[name];
    return typeof value === 'number' && value > 0 ? { [name]: value } : {};
  };
  return { ...percentage('warning'), ...percentage('critical') };
}

/** Reads `metricsAlertConfig.orgLimits`, which is open JSON: what is malformed counts as absent. */
export function limitSettingsOf(orgLimits: unknown): LimitSettings {
  if (!isObject(orgLimits)) return { overrides: {}, ignore: [] };
  const { overrides, ignore } = orgLimits;
  const entries = isObject(overrides) ? Object.entries(overrides) : [];
  return {
    ...percentagesOf(orgLimits),
    overrides: Object.fromEntries(entries.flatMap(([name, of]) => (isObject(of) ? [[name, percentagesOf(of)]] : []))),
    ignore: Array.isArray(ignore) ? ignore.filter((name) => typeof name === 'string') : [],
  };
}

/**
 * The thresholds of a limit. Of several projects that name the org the strictest holds, and a limit is ignored only if
 * all of them ignore it. A warning level above the critical one counts as that one.
 */
export function thresholdsOf(projects: readonly LimitSettings[], limitName: string): Thresholds {
  const watching = projects.filter(({ ignore }) => !ignore.includes(limitName));
  const isIgnored = projects.length > 0 && watching.length === 0;
  const strictest = (level: 'warning' | 'critical', standard: number) =>
    watching.length === 0
      ? standard
      : Math.min(
          ...watching.map(({ overrides, ...settings }) => overrides[limitName]?.[level] ?? settings[level] ?? standard),
        );
  const critical = strictest('critical', DEFAULT_CRITICAL_PCT);
  return { warning: Math.min(strictest('warning', DEFAULT_WARNING_PCT), critical), critical, isIgnored };
}

/** Per cent with two decimals; may pass 100. A limit of 0 is not used. */
export const usagePct = (used: number, max: number): number => (max > 0 ? Math.round((used / max) * 10_000) / 100 : 0);

export function levelOf(pct: number, { warning, critical, isIgnored }: Thresholds): LimitLevel {
  if (isIgnored) return 'ok';
  if (pct >= critical) return 'critical';
  return pct >= warning ? 'warning' : 'ok';
}

export const isAbove = (level: LimitLevel, other: LimitLevel): boolean =>
  LIMIT_LEVELS.indexOf(level) > LIMIT_LEVELS.indexOf(other);
