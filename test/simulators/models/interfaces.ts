import type { IncomingHttpHeaders } from 'node:http';
import type { ModelProvider, ModelUsage } from '../../../domain/projects/integrations/model-provider-rules.ts';
import type { SimulatedRequest } from './behaviors.ts';

export type AnswerEnd = 'ok' | 'length' | 'refusal';

/** How one of the interfaces writes what the simulator does. */
export interface ModelInterface {
  path: string;
  keyOf: (headers: IncomingHttpHeaders) => string | undefined;
  read: (body: Record<string, unknown>) => Omit<SimulatedRequest, 'provider' | 'sent'>;
  /** Parameters that old compatible servers refuse. */
  newParameters: readonly string[];
  error: (status: number, code: string, message: string) => object;
  /** Events of a stream, as they are sent. */
  begin: (request: SimulatedRequest, usage: ModelUsage) => string;
  piece: (text: string) => string;
  end: (end: AnswerEnd, usage: ModelUsage | undefined) => string;
  broken: (message: string) => string;
}

const event = (data: unknown, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

const bearerOf = ({ authorization }: IncomingHttpHeaders): string | undefined => authorization?.replace(/^Bearer /, '');

const messagesOf = (body: Record<string, unknown>) =>
  (body.messages as { role: string; content: string }[]).map(({ role, content }) => ({ role, text: content }));

const chunk = (delta: object, finish: string | null = null) =>
  event({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_767_225_600,
    model: 'simulated',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
const FINISH = { ok: 'stop', length: 'length', refusal: 'stop' };

/** Chat completions: https://platform.openai.com/docs/api-reference/chat-streaming */
const openai: ModelInterface = {
  path: '/v1/chat/completions',
  keyOf: bearerOf,
  read(body) {
    const messages = messagesOf(body);
    const format = body.response_format as { json_schema?: { schema: Record<string, unknown> } } | undefined;
    return {
      model: String(body.model),
      system: messages.find(({ role }) => role === 'system')?.text ?? '',
      messages: messages.filter(({ role }) => role !== 'system'),
      schema: format?.json_schema?.schema,
      maxTokens: Number(body.max_completion_tokens ?? body.max_tokens),
    };
  },
  newParameters: ['max_completion_tokens', 'response_format', 'stream_options'],
  error: (_status, code, message) => ({ error: { message, type: code, param: null, code } }),
  begin: () => chunk({ role: 'assistant', content: '', refusal: null }),
  piece: (text) => chunk({ content: text }),
  end(end, usage) {
    const refusal = end === 'refusal' ? chunk({ refusal: 'I cannot help with that.' }) : '';
    const last = usage && {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      choices: [],
      usage: {
        prompt_tokens: usage.input + usage.cacheRead,
        completion_tokens: usage.output,
        total_tokens: usage.input + usage.cacheRead + usage.output,
        prompt_tokens_details: { cached_tokens: usage.cacheRead },
        completion_tokens_details: { reasoning_tokens: usage.reasoning },
      },
    };
    return `${refusal}${chunk({}, FINISH[end])}${last ? event(last) : ''}${event('[DONE]')}`;
  },
  broken: (message) => event({ error: { message, type: 'server_error', code: null } }),
};

const STOP = { ok: 'end_turn', length: 'max_tokens', refusal: 'refusal' };

/** Messages: https://docs.anthropic.com/en/api/messages-streaming */
const anthropic: ModelInterface = {
  path: '/v1/messages',
  // Its library sends the key as a bearer's since version 1.
  keyOf: (headers) => bearerOf(headers) ?? [headers['x-api-key']].flat()[0],
  read(body) {
    const { format } = (body.output_config ?? {}) as { format?: { schema: Record<string, unknown> } };
    return {
      model: String(body.model),
      system: String(body.system),
      messages: messagesOf(body),
      schema: format?.schema,
      maxTokens: Number(body.max_tokens),
    };
  },
  newParameters: ['output_config'],
  error: (_status, code, message) => ({ type: 'error', error: { type: code, message }, request_id: 'req_1' }),
  begin: ({ model }, { input, cacheRead, cacheWrite }) =>
    [
      event(
        {
          type: 'message_start',
          message: {
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            model,
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: {
              input_tokens: input,
              cache_read_input_tokens: cacheRead,
              cache_creation_input_tokens: cacheWrite,
              output_tokens: 1,
            },
          },
        },
        'message_start',
      ),
      event(
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        'content_block_start',
      ),
      event({ type: 'ping' }, 'ping'),
    ].join(''),
  piece: (text) =>
    event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, 'content_block_delta'),
  end: (end, usage) =>
    [
      event({ type: 'content_block_stop', index: 0 }, 'content_block_stop'),
      event(
        {
          type: 'message_delta',
          delta: { stop_reason: STOP[end], stop_sequence: null },
          usage: {
            output_tokens: usage?.output ?? 0,
            ...(usage && { output_tokens_details: { thinking_tokens: usage.reasoning } }),
          },
        },
        'message_delta',
      ),
      event({ type: 'message_stop' }, 'message_stop'),
    ].join(''),
  broken: (message) => event({ type: 'error', error: { type: 'overloaded_error', message } }, 'error'),
};

export const INTERFACES: Record<ModelProvider, ModelInterface> = { openai, anthropic };
