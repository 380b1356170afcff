export const MODEL_PROVIDERS = ['openai', 'anthropic'] as const;
/** The interface that a model is called by: chat completions of OpenAI, or messages of Anthropic. */
export type ModelProvider = (typeof MODEL_PROVIDERS)[number];

/** Roots of the providers' own interfaces, which are called where an integration has no address. */
export const PROVIDER_URLS: Readonly<Record<ModelProvider, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
};

/** Tokens of one call or of several. */
export interface ModelUsage {
  /** Without those that were read from the provider's cache or written to it. */
  input: number;
  /** Tokens of the output, reasoning included. */
  output: number;
  reasoning: number;
  cacheRead: number;
  cacheWrite: number;
}

/** What the input of a call had, of which its answer may not have ended. */
export type InputUsage = Pick<ModelUsage, 'input' | 'cacheRead' | 'cacheWrite'>;

export interface ModelMessage {
  role: 'user' | 'assistant';
  text: string;
}
