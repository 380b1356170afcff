import Anthropic from '@anthropic-ai/sdk';
import { schemaInstruction, strictSchema } from '../../domain/language-models/answer-schema-rules.ts';
import { type AdapterCall, type AnswerEnd, withoutRefused } from './model-call.ts';

const PUBLIC_URL = 'https://api.anthropic.com';

/** Parameters that not every model knows, by what the refusals say. */
const OPTIONAL = { output_config: /output_config|output_format|json_schema|structured output/i };
export type OptionalOfAnthropic = keyof typeof OPTIONAL;

const ENDS: Record<string, AnswerEnd> = {
  end_turn: 'ok',
  stop_sequence: 'ok',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'refused',
};

/**
 * Messages of Anthropic.
 * @param lacking what the model was found not to know; more may be found.
 */
export async function askAnthropic(call: AdapterCall, lacking: Set<OptionalOfAnthropic>): Promise<void> {
  const { model, system, messages, schema, maxOutputTokens, received, signal } = call;
  const client = new Anthropic({
    apiKey: call.apiKey,
    // Not from the environment of the process.
    webhookKey: null,
    baseURL: call.baseUrl ?? PUBLIC_URL,
    maxRetries: 0,
    timeout: TIMEOUT_MS,
    fetch: call.fetch,
    logLevel: 'off',
    openTelemetry: false,
  });
  const strict = strictSchema(schema.schema);
  const create = () =>
    client.messages.create(
      {
        model,
        stream: true,
        max_tokens: maxOutputTokens,
        system: lacking.has('output_config') ? `${system}\n\n${schemaInstruction(strict)}` : system,
        messages: messages.map(({ role, text }) => ({ role, content: text })),
        ...(!lacking.has('output_config') && { output_config: { format: { type: 'json_schema', schema: strict } } }),
      },
      { signal },
    );
  let input: Anthropic.Usage | undefined;
  for await (const event of await withoutRefused(create, OPTIONAL, lacking)) {
    if (event.type === 'message_start') input = event.message.usage;
    else if (event.type === 'content_block_delta') {
      if (event.delta.type === 'text_delta') received.add(event.delta.text);
      else if (event.delta.type === 'thinking_delta') received.count(event.delta.thinking);
    } else if (event.type === 'message_delta') {
      const { delta, usage } = event;
      received.usage = {
        input: usage.input_tokens ?? input?.input_tokens ?? 0,
        output: usage.output_tokens,
        reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
        cacheRead: usage.cache_read_input_tokens ?? input?.cache_read_input_tokens ?? 0,
        cacheWrite: usage.cache_creation_input_tokens ?? input?.cache_creation_input_tokens ?? 0,
      };
      if (delta.stop_reason) received.end = ENDS[delta.stop_reason] ?? 'other';
    }
  }
}

/** The call has a limit of its own. */
const TIMEOUT_MS = 86_400_000;
