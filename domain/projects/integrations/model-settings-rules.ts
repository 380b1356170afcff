import type { IntegrationOptions } from './integration-rules.ts';
import { MODEL_PROVIDERS, type ModelProvider } from './model-provider-rules.ts';
import type { ModelPrices } from './price-rules.ts';

/** What an integration of kind ai-model says in its settings. */
export interface ModelSettings extends ModelPrices {
  provider: ModelProvider;
  /** Used when none is asked for. */
  model: string;
  /** All that may be asked for. */
  models: readonly string[];
  /** In USD, for a calendar month of UTC; null: without limit. */
  monthlyBudget: number | null;
  /** Input and output of all calls of a report. */
  maxTokensPerReport: number;
}

export const TOKENS_PER_REPORT = 200_000;

/** What is wrong with a setting; `name` is empty where one is missing that has no default. */
export interface SettingsProblem {
  name: string;
  detail: string;
}

const PRICES = ['inputPrice', 'outputPrice', 'cacheReadPrice', 'cacheWritePrice'] as const;
const NAMES: readonly string[] = ['provider', 'model', 'models', ...PRICES, 'monthlyBudget', 'maxTokensPerReport'];
const MODEL = /^[\w./:@+-]{1,200}$/;
/** Far above any price or budget; keeps sums exact enough. */
const AMOUNT_MAX = 1_000_000;
const TOKENS_MAX = 10_000_000;

/** The settings of a model, or everything that is wrong with them. */
export function readModelSettings(
  given: IntegrationOptions,
): { isOk: true; settings: ModelSettings } | { isOk: false; problems: SettingsProblem[] } {
  const problems: SettingsProblem[] = [];
  const refuse = (name: string, detail: string) => {
    problems.push({ name, detail });
    return undefined;
  };
  const amount = (name: string): number | null => {
    const value = given[name];
    if (value === undefined) return null;
    if (typeof value === 'number' && value >= 0 && value <= AMOUNT_MAX) return value;
    refuse(name, `must be a number from 0 to ${AMOUNT_MAX}, in USD`);
    return null;
  };
  for (const name of Object.keys(given))
    if (!NAMES.includes(name)) refuse(name, `is not a setting of a model; there are ${NAMES.join(', ')}`);
  const provider =
    MODEL_PROVIDERS.find((one) => one === given.provider) ??
    refuse('provider', `must be one of ${MODEL_PROVIDERS.join(', ')}`);
  const model = isModelName(given.model) ? given.model : refuse('model', 'must name a model');
  const others = namesIn(given.models ?? '');
  if (!others) refuse('models', 'must be names of models, separated by commas');
  const [inputPrice, outputPrice, cacheReadPrice, cacheWritePrice] = PRICES.map(amount) as [
    number | null,
    number | null,
    number | null,
    number | null,
  ];
  const monthlyBudget = amount('monthlyBudget');
  if ((inputPrice === null) !== (outputPrice === null))
    refuse(inputPrice === null ? 'inputPrice' : 'outputPrice', 'inputPrice and outputPrice belong together');
  else if (given.monthlyBudget !== undefined && inputPrice === null)
    refuse('monthlyBudget', 'needs inputPrice and outputPrice');
  const tokens = given.maxTokensPerReport ?? TOKENS_PER_REPORT;
  const maxTokensPerReport =
    typeof tokens === 'number' && Number.isInteger(tokens) && tokens >= 1_000 && tokens <= TOKENS_MAX
      ? tokens
      : refuse('maxTokensPerReport', `must be a whole number from 1000 to ${TOKENS_MAX}`);
  if (problems.length > 0 || !provider || model === undefined || !others || maxTokensPerReport === undefined)
    return { isOk: false, problems };
  return {
    isOk: true,
    settings: {
      provider,
      model,
      models: [...new Set([model, ...others])],
      inputPrice,
      outputPrice,
      cacheReadPrice,
      cacheWritePrice,
      monthlyBudget,
      maxTokensPerReport,
    },
  };
}

const isModelName = (value: unknown): value is string => typeof value === 'string' && MODEL.test(value);

function namesIn(list: unknown): string[] | undefined {
  if (typeof list !== 'string') return undefined;
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names.every(isModelName) ? names : undefined;
}
