const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Samples that are older say little about the present rate. */
export const FORECAST_FROM_MS = DAY_MS;
const SAMPLES_MIN = 6;

export interface UsedAt {
  /** Epoch milliseconds. */
  at: number;
  used: number;
}

/** How far ahead a forecast means something: rolling limits are given back within their window. */
function windowMsOf(limitName: string): number {
  if (limitName.startsWith('Hourly')) return HOUR_MS;
  return limitName.startsWith('Daily') ? DAY_MS : 90 * DAY_MS;
}

/**
 * When a limit will be used up, in epoch milliseconds: where the least-squares line through the samples since the last
 * fall reaches the maximum. Null when there are fewer than six, when it does not rise, and beyond the limit's window.
 * @param samples of at most 24 hours, the oldest first; the last is the present.
 */
export function forecastOf(limitName: string, samples: readonly UsedAt[], max: number): number | null {
  const rising = sinceLastFall(samples);
  const last = rising.at(-1);
  if (!last || max <= 0 || rising.length < SAMPLES_MIN) return null;
  // Relative to the last sample, so that the sums stay exact.
  const meanAt = mean(rising, ({ at }) => at - last.at);
  const meanUsed = mean(rising, ({ used }) => used);
  let covariance = 0;
  let variance = 0;
  for (const { at, used } of rising) {
    const distance = at - last.at - meanAt;
    covariance += distance * (used - meanUsed);
    variance += distance * distance;
  }
  if (variance === 0 || covariance <= 0) return null;
  const slope = covariance / variance;
  const reachedInMs = Math.max(0, meanAt + (max - meanUsed) / slope);
  return reachedInMs <= windowMsOf(limitName) ? Math.round(last.at + reachedInMs) : null;
}

function sinceLastFall(samples: readonly UsedAt[]): readonly UsedAt[] {
  for (let index = samples.length - 1; index > 0; index--) {
    if ((samples[index] as UsedAt).used < (samples[index - 1] as UsedAt).used) return samples.slice(index);
  }
  return samples;
}

const mean = (samples: readonly UsedAt[], pick: (sample: UsedAt) => number): number =>
  samples.reduce((sum, sample) => sum + pick(sample), 0) / samples.length;
