import type { ModelCall, ModelFailure } from '../../../domain/insight/language-models/language-model.port.ts';
import type { InputUsage, ModelUsage } from '../../../domain/projects/integrations/model-provider-rules.ts';
import { tokensAbout } from '../../../domain/projects/integrations/price-rules.ts';
import { failureKindOf, retryAfterMsOf } from '../../../domain/insight/language-models/retry-rules.ts';
import { maskSecrets } from '../../../domain/insight/language-models/secret-pattern-rules.ts';
import { outboundFailure } from '../outbound/outbound-http.ts';

/** How the answer of a model ended; undefined: the stream did before it. */
export type AnswerEnd = 'ok' | 'length' | 'refused' | 'other' | undefined;

/** What came of an answer so far; filled by an adapter as its stream comes. */
export class ReceivedAnswer {
  text = '';
  usage: ModelUsage | null = null;
  /** What the provider counted of the input before it answered. */
  inputUsage: InputUsage | null = null;
  end: AnswerEnd;
  /** The model's own reason for a refusal. */
  refusal = '';
  #hasBegun = false;
  readonly #onProgress: ModelCall['onProgress'];
  /** Characters that were received, of reasoning as well, which is not part of the text. */
  #length = 0;

  constructor(onProgress: ModelCall['onProgress']) {
    this.#onProgress = onProgress;
  }

  /** About how many tokens came; null before the answer began. */
  get tokens(): number | null {
    return this.#hasBegun ? tokensAbout(this.#length) : null;
  }

  /** The model is at work, though nothing of its answer may be seen yet. */
  begin(): void {
    this.#hasBegun = true;
  }

  add(piece: string): void {
    this.text += piece;
    this.count(piece);
  }

  count({ length }: string): void {
    this.begin();
    this.#length += length;
    this.#onProgress(tokensAbout(this.#length));
  }
}

/** What an adapter needs for one call. */
export interface AdapterCall extends Pick<ModelCall, 'model' | 'system' | 'messages' | 'schema' | 'maxOutputTokens'> {
  /** Null: the provider's own. */
  baseUrl: string | null;
  apiKey: string;
  fetch: typeof globalThis.fetch;
  signal: AbortSignal;
  received: ReceivedAnswer;
}

/** What came has not the form of a stream of events. */
export class NotAStreamError extends Error {}

/** `fetch`, with an error for an answer of success that is no stream: the libraries would find nothing in it. */
export const streamsOnly =
  (fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  async (input, init) => {
    const answer = await fetch(input, init);
    if (answer.ok && !/^text\/event-stream\b/i.test(answer.headers.get('content-type') ?? '')) {
      await answer.body?.cancel();
      throw new NotAStreamError();
    }
    return answer;
  };

const MESSAGE_MAX = 400;

/** @param message without the credential, and without what looks like one, after this. */
export const modelFailure = (
  kind: ModelFailure['kind'],
  message: string,
  { apiKey = '', retryAfterMs = null }: { apiKey?: string; retryAfterMs?: number | null } = {},
): ModelFailure => ({
  kind,
  message: maskSecrets(apiKey === '' ? message : message.replaceAll(apiKey, '***'))
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, MESSAGE_MAX),
  retryAfterMs,
});

/** The errors of both libraries have these. */
interface ApiError {
  status?: number | undefined;
  code?: string | null;
  type?: string | null;
  apiMessage?: string | null;
  headers?: Headers;
  error?: unknown;
}

/** What an error of a library means. @param name of the provider. */
export function failureOfError(error: unknown, name: string, apiKey: string): ModelFailure {
  const { kind: cause } = outboundFailure(error);
  if (cause === 'refused') return modelFailure('rejected', 'The address of the model is not permitted');
  if (cause === 'too_large') return modelFailure('malformed', `${name} answered too much`);
  for (let each = error; each instanceof Error; each = each.cause)
    if (each instanceof NotAStreamError) return modelFailure('malformed', `${name} did not answer with a stream`);
  const { status, code, type, headers, apiMessage, error: body } = error as ApiError;
  const given = apiMessage ?? (body as { message?: unknown } | undefined)?.message;
  const message = typeof given === 'string' ? `: ${given}` : '';
  if (status === undefined && message === '') return modelFailure('unavailable', `The connection to ${name} broke`);
  const kind = failureKindOf(
    status,
    [code, type].filter((each) => typeof each === 'string'),
  );
  const retryAfterMs = headers ? retryAfterMsOf((header) => headers.get(header), Date.now()) : null;
  const what = status === undefined ? `${name} broke the answer off` : `${name} answered ${status}`;
  return modelFailure(kind, `${what}${message}`, { apiKey, retryAfterMs });
}

/** How interfaces say that they do not know a parameter, as opposed to not liking its value. */
const NOT_KNOWN =
  /unsupported|not supported|unrecogni[sz]ed|unknown|unexpected|unavailable|not (?:permitted|allowed)|extra[_ ](?:field|input|forbidden)|supported values|must be one of|input should be '/i;

/**
 * Sends a request, again without a parameter that the model's interface refuses because it does not know it.
 * @param send gets the parameters that the request must leave out.
 * @param optional parameters by how refusals name them.
 * @param known those that earlier requests were refused for. Changed by success alone: one that is refused for another
 * reason changes nothing for others, and makes the next try all parameters again.
 */
export async function withoutRefused<Name extends string, T>(
  send: (lacking: ReadonlySet<Name>) => PromiseLike<T>,
  optional: Readonly<Record<Name, RegExp>>,
  known: Set<Name>,
): Promise<T> {
  const lacking = new Set(known);
  for (;;) {
    try {
      const answer = await send(lacking);
      for (const name of lacking) known.add(name);
      return answer;
    } catch (error) {
      const { status, message = '' } = error as ApiError & { message?: string };
      if (status !== 400 && status !== 422) throw error;
      const refused = (Object.keys(optional) as Name[]).find(
        (name) => !lacking.has(name) && optional[name].test(message) && NOT_KNOWN.test(message),
      );
      if (refused === undefined) {
        known.clear();
        throw error;
      }
      lacking.add(refused);
    }
  }
}

const TOKENS_MAX = 2_147_483_647;

/** Tokens as a provider counted them; undefined for what is no such number. */
export const tokens = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= TOKENS_MAX ? Math.round(value) : undefined;

/**
 * Makes a client of a provider's library. Its constructor reads addresses, keys and headers from the environment of the
 * process, which are not meant for the servers that tenants name: they are hidden from it.
 */
export function apartFromEnvironment<Client>(prefix: string, make: () => Client): Client {
  const hidden = Object.entries(process.env).filter(([name]) => name.startsWith(prefix));
  for (const [name] of hidden) delete process.env[name];
  try {
    return make();
  } finally {
    for (const [name, value] of hidden) process.env[name] = value;
  }
}
