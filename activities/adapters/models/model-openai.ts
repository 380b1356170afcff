import OpenAI from 'openai';
import { schemaInstruction, strictSchema } from '../../../domain/insight/language-models/answer-schema-rules.ts';
import { type ModelUsage, PROVIDER_URLS } from '../../../domain/projects/integrations/model-provider-rules.ts';
import { type AdapterCall, type AnswerEnd, apartFromEnvironment, tokens, withoutRefused } from './model-call.ts';

/** Parameters that not every compatible server knows, by what their refusals say. */
const OPTIONAL = {
  stream_options: /stream_options|include_usage/,
  max_completion_tokens: /max_completion_tokens/,
  response_format: /response_format|json_schema|structured output/i,
};
export type OptionalOfOpenAi = keyof typeof OPTIONAL;

const ENDS: Record<string, AnswerEnd> = { stop: 'ok', length: 'length', content_filter: 'refused' };

/**
 * Chat completions, of OpenAI or of a server with the same interface.
 * @param known what the server was found not to know; more may be found.
 */
export async function askOpenAi(call: AdapterCall, known: Set<OptionalOfOpenAi>): Promise<void> {
  const { model, system, messages, schema, maxOutputTokens, received, signal } = call;
  const client = apartFromEnvironment(
    'OPENAI_',
    () =>
      new OpenAI({
        apiKey: call.apiKey,
        adminAPIKey: null,
        organization: null,
        project: null,
        webhookSecret: null,
        baseURL: call.baseUrl ?? PROVIDER_URLS.openai,
        maxRetries: 0,
        timeout: TIMEOUT_MS,
        fetch: call.fetch,
        logLevel: 'off',
      }),
  );
  const strict = strictSchema(schema.schema);
  const create = (lacking: ReadonlySet<OptionalOfOpenAi>) => {
    const instructions = lacking.has('response_format') ? `${system}\n\n${schemaInstruction(strict)}` : system;
    return client.chat.completions.create(
      {
        model,
        stream: true,
        messages: [
          { role: 'system', content: instructions },
          ...messages.map(({ role, text }) => ({ role, content: text })),
        ],
        ...(!lacking.has('stream_options') && { stream_options: { include_usage: true } }),
        ...(lacking.has('max_completion_tokens')
          ? { max_tokens: maxOutputTokens }
          : { max_completion_tokens: maxOutputTokens }),
        ...(!lacking.has('response_format') && {
          response_format: { type: 'json_schema', json_schema: { name: schema.name, strict: true, schema: strict } },
        }),
      },
      { signal },
    );
  };
  for await (const { choices, usage } of await withoutRefused(create, OPTIONAL, known)) {
    received.begin();
    if (usage) received.usage = usageOf(usage) ?? received.usage;
    const [choice] = choices ?? [];
    if (!choice) continue;
    const { delta, finish_reason: reason } = choice;
    if (delta?.content) received.add(delta.content);
    const { reasoning_content: reasoning } = (delta ?? {}) as { reasoning_content?: unknown };
    if (typeof reasoning === 'string') received.count(reasoning);
    if (delta?.refusal) {
      received.count(delta.refusal);
      received.refusal += delta.refusal;
    }
    if (reason) received.end = received.refusal === '' ? (ENDS[reason] ?? 'other') : 'refused';
  }
}

/** The call has a limit of its own. */
const TIMEOUT_MS = 86_400_000;

function usageOf({
  prompt_tokens: prompt,
  completion_tokens: output,
  prompt_tokens_details: cache,
  completion_tokens_details: details,
}: OpenAI.CompletionUsage): ModelUsage | null {
  const [inputTokens, outputTokens] = [tokens(prompt), tokens(output)];
  if (inputTokens === undefined || outputTokens === undefined) return null;
  const cacheRead = tokens(cache?.cached_tokens) ?? 0;
  const cacheWrite = tokens(cache?.cache_write_tokens) ?? 0;
  const reasoning = tokens(details?.reasoning_tokens) ?? 0;
  const input = Math.max(0, inputTokens - cacheRead - cacheWrite);
  return { input, output: outputTokens, reasoning, cacheRead, cacheWrite };
}
