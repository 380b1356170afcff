import { LRUCache } from 'lru-cache';
import type {
  CallModel,
  ModelAccess,
  ModelCall,
  ModelFailure,
} from '../../../domain/insight/language-models/language-model.port.ts';
import type { ModelProvider } from '../../../domain/projects/integrations/model-provider-rules.ts';
import type { HostAddresses } from '../../../domain/mocks/serving/own-mocks.ts';
import type { OptionalOfAnthropic } from './model-anthropic.ts';
import { type AdapterCall, failureOfError, modelFailure, ReceivedAnswer, streamsOnly } from './model-call.ts';
import type { OptionalOfOpenAi } from './model-openai.ts';
import { createLibraryFetch } from '../outbound/library-fetch.ts';

const ANSWER_MAX_BYTES = 16 * 1_048_576;
/** A model may reason for minutes before it says anything. */
const IDLE_MS = 5 * 60_000;
/** Models whose missing parameters are remembered. */
const KEPT_MODELS = 1_000;

export interface LanguageModelParts {
  addresses: HostAddresses;
  /** From the request to the last byte of the answer. */
  callTimeoutMs: number;
  idleMs?: number;
}

export interface LanguageModels {
  call: CallModel;
  close: () => Promise<void>;
}

type Optional = OptionalOfOpenAi | OptionalOfAnthropic;

/** The libraries of the providers are a fifth of all modules of a process, most of which never ask a model. */
const ASK: Record<ModelProvider, (call: AdapterCall, lacking: Set<Optional>) => Promise<void>> = {
  async openai(call, lacking) {
    const { askOpenAi } = await import('./model-openai.ts');
    await askOpenAi(call, lacking as Set<OptionalOfOpenAi>);
  },
  async anthropic(call, lacking) {
    const { askAnthropic } = await import('./model-anthropic.ts');
    await askAnthropic(call, lacking as Set<OptionalOfAnthropic>);
  },
};

/** Models by the interfaces of OpenAI and Anthropic, at permitted addresses only. */
export function createLanguageModels({
  addresses,
  callTimeoutMs,
  idleMs = IDLE_MS,
}: LanguageModelParts): LanguageModels {
  const permitted = createLibraryFetch(addresses, { maxBytes: ANSWER_MAX_BYTES, idleMs, isStreamed: true });
  const fetch = streamsOnly(permitted.fetch);
  const lackingOf = rememberedParameters();
  return {
    async call(access, call) {
      const clock = AbortSignal.timeout(callTimeoutMs);
      const signal = AbortSignal.any([call.signal, clock]);
      const received = new ReceivedAnswer(call.onProgress);
      const { model, system, messages, schema, maxOutputTokens } = call;
      let failure: ModelFailure | undefined;
      try {
        await ASK[access.provider](
          { ...access, model, system, messages, schema, maxOutputTokens, fetch, signal, received },
          lackingOf(access, call),
        );
      } catch (error) {
        failure = failureOfError(error, access.provider, access.apiKey);
      }
      const { usage, inputUsage, tokens: receivedTokens } = received;
      const end = { usage, inputUsage, receivedTokens };
      // An abort ends the streams of the libraries as if they were complete.
      if (call.signal.aborted) return { ...modelFailure('cancelled', 'The call was cancelled'), ...end };
      if (clock.aborted)
        return {
          ...modelFailure('timeout', `${access.provider} did not complete the answer in ${callTimeoutMs / 1_000} s`),
          ...end,
        };
      if (failure) return { ...failure, ...end };
      if (received.end === 'ok') return { kind: 'ok', text: received.text, ...end };
      return { ...failureOfEnd(received, access), ...end };
    },
    close: permitted.close,
  };
}

function failureOfEnd({ end, refusal }: ReceivedAnswer, { provider, apiKey }: ModelAccess): ModelFailure {
  if (end === 'length') return modelFailure('length', 'The answer of the model is longer than it may be');
  if (end === 'refused')
    return modelFailure('refused', `The model refused to answer${refusal === '' ? '' : `: ${refusal}`}`, { apiKey });
  if (end === undefined) return modelFailure('unavailable', `${provider} broke the answer off`);
  return modelFailure('malformed', `${provider} ended the answer in a way that is not expected`);
}

/** What models were found not to know, by address and name. */
function rememberedParameters(): (access: ModelAccess, call: Pick<ModelCall, 'model'>) => Set<Optional> {
  const known = new LRUCache<string, Set<Optional>>({ max: KEPT_MODELS });
  return ({ provider, baseUrl }, { model }) => {
    const key = JSON.stringify([provider, baseUrl, model]);
    const lacking = known.get(key) ?? new Set<Optional>();
    known.set(key, lacking);
    return lacking;
  };
}
