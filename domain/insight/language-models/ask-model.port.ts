import type { Actor } from '../../kernel/shared/actor.ts';
import type { AnswerSchema, ModelFailureKind } from './language-model.port.ts';
import type { ModelMessage, ModelProvider, ModelUsage } from '../../projects/integrations/model-provider-rules.ts';

export interface ModelQuestion {
  /** The service itself in the tenant; sees all projects, because a budget may be that of the tenant. */
  actor: Actor;
  projectId: string;
  /** What the question is part of; its calls share the limit `maxTokensPerReport`, also when an activity is repeated. */
  taskExecutionId: string;
  /** For readers of the audit trail, of the credential: `report on acme/shop`. */
  purpose: string;
  /** One of the integration's; undefined: its first. */
  model?: string | undefined;
  /** Instructions. What looks like a secret is masked here and in the messages, before they leave. */
  system: string;
  /** Turns, beginning and ending with one of the user; a repair adds the answer and what is wrong with it. */
  messages: readonly ModelMessage[];
  schema: AnswerSchema;
  maxOutputTokens: number;
  /** Aborts the call that runs, and the waiting for the next. */
  signal: AbortSignal;
  /** Called often, with about how many tokens of output came so far in the present call. */
  onProgress: (outputTokens: number) => void;
}

/**
 * What a question came to, after all retries.
 * - `budget_exceeded`: the integration's budget of the month, or what a report may use, would be exceeded
 * - `unconfigured`: there is no active integration of kind ai-model that has this model
 * - others: see `ModelFailureKind`
 */
export type AskFailureKind = ModelFailureKind | 'budget_exceeded' | 'unconfigured';

/** `usage`, `cost` and `durationMs` are those of all calls that were made for this question. */
export type ModelReply = (
  | { kind: 'ok'; text: string; provider: ModelProvider; model: string }
  | { kind: AskFailureKind; message: string }
) & {
  usage: ModelUsage;
  /** In USD; null without prices. */
  cost: number | null;
  durationMs: number;
  calls: number;
};

/**
 * Asks the model of a project: reserves the cost in the budget, calls, tries again where that helps (at most 5 calls
 * within 40 minutes, those of a process that ended included, waiting as long as the provider asks for), and keeps a row of each call. Every failure of a model is a value; only the
 * database throws.
 */
export type AskModel = (question: ModelQuestion) => Promise<ModelReply>;
