import type { MetricSample, SeriesNames } from './series-rules.ts';

export const AI_TOKEN_KINDS = ['input', 'output', 'reasoning', 'cacheRead', 'cacheWrite'] as const;
export type AiTokenKind = (typeof AI_TOKEN_KINDS)[number];
/** What is added up of the use of AI. */
export type AiMeasure = 'sessions' | 'prompts' | 'promptsFailed' | 'turns' | 'durationMs' | 'cost' | AiTokenKind;

/** By the names of metrics as the store knows them. */
const MEASURES: ReadonlyMap<string, AiMeasure> = new Map([
  ['ai_sessions', 'sessions'],
  ['ai_prompts', 'prompts'],
  ['ai_prompts_failed', 'promptsFailed'],
  ['ai_turns', 'turns'],
  ['ai_duration', 'durationMs'],
  ['ai_cost', 'cost'],
]);

/** How far back the use of AI is shown. */
export const AI_USAGE_DAYS_MAX = 90;

export interface AiUsageChange {
  repositoryIdentifier: string;
  /** Day in UTC: `2026-11-27`. */
  day: string;
  measure: AiMeasure;
  amount: number;
}

/** The most that one event adds: sums of such values stay numbers that can be shown. */
export const USAGE_MAX = 1e15;

/** `ai.tokens` by its tag `kind`, others by name. */
const measureOf = ({ name, labels: { kind } }: SeriesNames): AiMeasure | undefined =>
  name === 'ai_tokens' ? AI_TOKEN_KINDS.find((one) => one === kind) : MEASURES.get(name);

/** Whether values of the series add up to the use of AI in a repository. */
export const isSummedUsage = (series: SeriesNames): boolean =>
  series.labels.repository !== undefined && measureOf(series) !== undefined;

/** What samples say about the use of AI in repositories, added up. */
export function aiUsageIn(samples: readonly MetricSample[]): AiUsageChange[] {
  const found = new Map<string, AiUsageChange>();
  for (const { series, at, value } of samples) {
    const { repository } = series.labels;
    const measure = measureOf(series);
    if (measure === undefined || repository === undefined) continue;
    const day = new Date(at).toISOString().slice(0, 10);
    const key = JSON.stringify([repository, day, measure]);
    const before = found.get(key)?.amount ?? 0;
    found.set(key, { repositoryIdentifier: repository, day, measure, amount: before + value });
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change);
}

export interface AiUsage {
  sessions: number;
  prompts: number;
  promptsFailed: number;
  tokens: Record<AiTokenKind, number>;
  turns: number;
  durationMs: number;
  /** In USD; null when nothing had a price. */
  cost: number | null;
}

/** The sums of each measure, as clients see them; other sources are added to the same measures. */
export function aiUsageOf(sums: readonly { measure: AiMeasure; amount: number }[]): AiUsage {
  const amounts = new Map<AiMeasure, number>();
  for (const { measure, amount } of sums) amounts.set(measure, (amounts.get(measure) ?? 0) + amount);
  const of = (measure: AiMeasure): number => amounts.get(measure) ?? 0;
  return {
    sessions: of('sessions'),
    prompts: of('prompts'),
    promptsFailed: of('promptsFailed'),
    tokens: Object.fromEntries(AI_TOKEN_KINDS.map((kind) => [kind, of(kind)])) as Record<AiTokenKind, number>,
    turns: of('turns'),
    durationMs: of('durationMs'),
    cost: amounts.get('cost') ?? null,
  };
}

interface CallSums extends Record<AiTokenKind, number> {
  sessions: number;
  prompts: number;
  /** Calls that were answered. */
  turns: number;
  durationMs: number;
  cost: number | null;
}

/** What our own calls of language models add to each measure: every call is a prompt, and those of a report a session. */
export const measuresOfCalls = ({ cost, ...sums }: CallSums): { measure: AiMeasure; amount: number }[] => {
  const measures = { ...sums, promptsFailed: sums.prompts - sums.turns, ...(cost !== null && { cost }) };
  return Object.entries(measures).map(([measure, amount]) => ({ measure: measure as AiMeasure, amount }));
};
