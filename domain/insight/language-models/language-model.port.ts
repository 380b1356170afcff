import type {
  ModelProvider,
  ModelUsage,
  InputUsage,
  ModelMessage,
} from '../../projects/integrations/model-provider-rules.ts';

/** A JSON schema that the answer is to follow, by its name for the provider: `[a-z_]{1,64}`. */
export interface AnswerSchema {
  name: string;
  schema: Record<string, unknown>;
}

/** Where a model is called, and by which credential. */
export interface ModelAccess {
  provider: ModelProvider;
  /** Root of the interface; null: the provider's own. */
  baseUrl: string | null;
  apiKey: string;
}

export interface ModelCall {
  model: string;
  /** Instructions. */
  system: string;
  /** Turns, beginning and ending with one of the user. */
  messages: readonly ModelMessage[];
  schema: AnswerSchema;
  /** Most tokens of the output, reasoning included. */
  maxOutputTokens: number;
  signal: AbortSignal;
  /** Called as the answer comes, with about how many tokens there are so far. */
  onProgress: (outputTokens: number) => void;
}

/**
 * Why a call of a model brought no answer.
 * - `limited`: the provider's limit on calls or tokens is reached (429)
 * - `unavailable`: not reached, failed on the provider's side (408, 409, 5xx), or the stream broke
 * - `timeout`: the answer did not end in time
 * - `quota`: the provider's account is used up; waiting does not help
 * - `auth_failed`: the credential is refused, or lacks the right (401, 403)
 * - `rejected`: the provider, or our address policy, rejects this request (400, 404, 413, 422)
 * - `refused`: the model refuses to answer
 * - `length`: the answer, or what was asked, is too long
 * - `malformed`: what came is not what the interface promises
 * - `cancelled`: the signal was aborted
 */
export const MODEL_FAILURES = [
  'limited',
  'unavailable',
  'timeout',
  'quota',
  'auth_failed',
  'rejected',
  'refused',
  'length',
  'malformed',
  'cancelled',
] as const;
export type ModelFailureKind = (typeof MODEL_FAILURES)[number];

export interface ModelFailure {
  kind: ModelFailureKind;
  /** For people; at most 400 characters, without secrets. */
  message: string;
  /** After what time the provider wants to be asked again; null when it did not say. */
  retryAfterMs: number | null;
}

/**
 * What a call came to. `usage` is null when the provider did not tell it; then `inputUsage` may have what it counted of the
 * input, and `receivedTokens` has about how many tokens of output came, null when no answer began.
 */
export type ModelAnswer = ({ kind: 'ok'; text: string } | ModelFailure) & {
  usage: ModelUsage | null;
  inputUsage: InputUsage | null;
  receivedTokens: number | null;
};

/** Calls a model once: no retries, bounded in time and size. Every failure is a value. */
export type CallModel = (access: ModelAccess, call: ModelCall) => Promise<ModelAnswer>;
