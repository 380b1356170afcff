import Anthropic from '@anthropic-ai/sdk';
import { schemaInstruction, strictSchema } from '../../../domain/insight/language-models/answer-schema-rules.ts';
import { type InputUsage, PROVIDER_URLS } from '../../../domain/projects/integrations/model-provider-rules.ts';
import { type AdapterCall, type AnswerEnd, apartFromEnvironment, tokens, withoutRefused } from './model-call.ts';

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
 * @param known what the model was found not to know; more may be found.
 */
export async function askAnthropic(call: AdapterCall, known: Set<OptionalOfAnthropic>): Promise<void> {
  const { model, system, messages, schema, maxOutputTokens, received, signal } = call;
  const client = apartFromEnvironment(
    'ANTHROPIC_',
    () =>
      new Anthropic({
        apiKey: call.apiKey,
        webhookKey: null,
        baseURL: call.baseUrl ?? PROVIDER_URLS.anthropic,
        maxRetries: 0,
        timeout: TIMEOUT_MS,
        fetch: call.fetch,
        logLevel: 'off',
        openTelemetry: false,
      }),
  );
  const strict = strictSchema(schema.schema);
  const create = (lacking: ReadonlySet<OptionalOfAnthropic>) =>
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
  for await (const event of await withoutRefused(create, OPTIONAL, known)) {
    if (event.type === 'message_start') {
      received.begin();
      received.inputUsage = inputUsageOf(event.message.usage, null);
    } else if (event.type === 'content_block_delta') {
      if (event.delta.type === 'text_delta') received.add(event.delta.text);
      else if (event.delta.type === 'thinking_delta') received.count(event.delta.thinking);
    } else if (event.type === 'message_delta') {
      const { delta, usage } = event;
      const input = inputUsageOf(usage, received.inputUsage);
      const output = tokens(usage?.output_tokens);
      const reasoning = tokens(usage?.output_tokens_details?.thinking_tokens) ?? 0;
      if (input && output !== undefined) received.usage = { ...input, output, reasoning };
      if (delta.stop_reason) received.end = ENDS[delta.stop_reason] ?? 'other';
    }
  }
}

interface InputTokens {
  input_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
}

/** Usage comes as the answer begins and as it ends, the second time perhaps in part. */
function inputUsageOf(usage: InputTokens | null | undefined, earlier: InputUsage | null): InputUsage | null {
  const input = tokens(usage?.input_tokens) ?? earlier?.input;
  if (input === undefined) return null;
  return {
    input,
    cacheRead: tokens(usage?.cache_read_input_tokens) ?? earlier?.cacheRead ?? 0,
    cacheWrite: tokens(usage?.cache_creation_input_tokens) ?? earlier?.cacheWrite ?? 0,
  };
}

/** The call has a limit of its own. */
const TIMEOUT_MS = 86_400_000;
