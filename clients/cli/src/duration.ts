import { usage } from './exit.ts';

const SECONDS: Record<string, number> = { '': 1, s: 1, m: 60, h: 3_600 };

/** Milliseconds of `90`, `90s`, `5m` or `2h`. */
export function durationMs(text: string): number {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)([smh]?)$/.exec(text) ?? [];
  if (amount === undefined) throw usage(`${text} is no time: give seconds, or 90s, 5m, 2h`);
  return Number(amount) * (SECONDS[unit] ?? 1) * 1_000;
}
