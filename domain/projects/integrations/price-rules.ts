import type { ModelMessage, ModelUsage } from './model-provider-rules.ts';

/** In USD per million tokens; null: not given. */
export interface ModelPrices {
  inputPrice: number | null;
  outputPrice: number | null;
  /** Else tokens that are read from the cache, or written to it, cost what others of the input do. */
  cacheReadPrice: number | null;
  cacheWritePrice: number | null;
}

const PER_MILLION = 1_000_000;

/** What tokens cost, in USD; null without prices. */
export function costOf(usage: ModelUsage, prices: ModelPrices): number | null {
  const { inputPrice, outputPrice, cacheReadPrice, cacheWritePrice } = prices;
  if (inputPrice === null || outputPrice === null) return null;
  const { input, output, cacheRead, cacheWrite } = usage;
  return (
    (input * inputPrice +
      output * outputPrice +
      cacheRead * (cacheReadPrice ?? inputPrice) +
      cacheWrite * (cacheWritePrice ?? inputPrice)) /
    PER_MILLION
  );
}

/** The most that a call may cost: the whole input at the highest price of input, and all output that is allowed. */
export function highestCostOf(
  { inputTokens, maxOutputTokens }: { inputTokens: number; maxOutputTokens: number },
  { inputPrice, outputPrice, cacheReadPrice, cacheWritePrice }: ModelPrices,
): number {
  const dearest = Math.max(inputPrice ?? 0, cacheReadPrice ?? 0, cacheWritePrice ?? 0);
  return (inputTokens * dearest + maxOutputTokens * (outputPrice ?? 0)) / PER_MILLION;
}

/** Fewest bytes of text, digits and identifiers included, that make one token. */
const BYTES_PER_TOKEN_MIN = 2;
const BYTES_PER_TOKEN = 4;
/** The provider's own tokens around the turns. */
const OVERHEAD = 50;

interface Asked {
  system: string;
  messages: readonly ModelMessage[];
  schema: { schema: Record<string, unknown> };
}

const bytesOf = ({ system, messages, schema }: Asked): number =>
  [system, JSON.stringify(schema.schema), ...messages.map(({ text }) => text)].reduce(
    (sum, text) => sum + new TextEncoder().encode(text).length,
    0,
  );

/** More tokens than the input of a call has, as far as that can be known without the model's own tokenizer. */
export const inputTokensAtMost = (asked: Asked): number =>
  Math.ceil(bytesOf(asked) / BYTES_PER_TOKEN_MIN) + OVERHEAD * (asked.messages.length + 1);

/** About how many tokens the input of a call has. */
export const inputTokensAbout = (asked: Asked): number => Math.ceil(bytesOf(asked) / BYTES_PER_TOKEN);

/** About how many tokens a text of the model has. */
export const tokensAbout = (length: number): number => Math.ceil(length / BYTES_PER_TOKEN);

export const NO_USAGE: ModelUsage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 };

export const addUsage = (one: ModelUsage, other: ModelUsage): ModelUsage => ({
  input: one.input + other.input,
  output: one.output + other.output,
  reasoning: one.reasoning + other.reasoning,
  cacheRead: one.cacheRead + other.cacheRead,
  cacheWrite: one.cacheWrite + other.cacheWrite,
});
