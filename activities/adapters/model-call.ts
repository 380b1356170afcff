import type { ModelCall, ModelFailure, ModelUsage } from '../../domain/language-models/language-model.port.ts';
import { tokensAbout } from '../../domain/language-models/price-rules.ts';
import { failureKindOf, retryAfterMsOf } from '../../domain/language-models/retry-rules.ts';
import { maskSecrets } from '../../domain/language-models/secret-pattern-rules.ts';
import { RefusedAddressError } from './outbound-policy.ts';
import { TooLargeError } from './permitted-fetch.ts';

/** How the answer of a model ended; undefined: the stream did before it. */
export type AnswerEnd = 'ok' | 'length' | 'refused' | 'other' | undefined;

/** What came of an answer so far; filled by an adapter as its stream comes. */
export class ReceivedAnswer {
  text = '';
  usage: ModelUsage | null = null;
  end: AnswerEnd;
  /** The model's own reason for a refusal. */
  refusal = '';
  hasBegun = false;
  readonly #onProgress: ModelCall['onProgress'];
  /** Also of reasoning, which is not part of the text. */
  #length = 0;

  constructor(onProgress: ModelCall['onProgress']) {
    this.#onProgress = onProgress;
  }

  /** About how many tokens came; null before the first. */
  get tokens(): number | null {
    return this.hasBegun ? tokensAbout(this.#length) : null;
  }

  add(piece: string): void {
    this.text += piece;
    this.count(piece);
  }

  count({ length }: string): void {
    this.hasBegun = true;
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
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof RefusedAddressError)
      return modelFailure('rejected', 'The address of the model is not permitted');
    if (cause instanceof NotAStreamError) return modelFailure('malformed', `${name} did not answer with a stream`);
    if (cause instanceof TooLargeError) return modelFailure('malformed', `${name} answered too much`);
  }
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

/**
 * Sends a request, again without a parameter that the model's interface refuses because it does not know it.
 * @param optional parameters by what refusals of them say.
 * @param lacking those that are known to be refused; the request leaves them out.
 */
export async function withoutRefused<Name extends string, T>(
  send: () => PromiseLike<T>,
  optional: Readonly<Record<Name, RegExp>>,
  lacking: Set<Name>,
): Promise<T> {
  try {
    return await send();
  } catch (error) {
    const { status, message } = error as ApiError & { message?: string };
    const names = status === 400 || status === 422 ? (Object.keys(optional) as Name[]) : [];
    const refused = names.find((name) => !lacking.has(name) && optional[name].test(message ?? ''));
    if (refused === undefined) throw error;
    lacking.add(refused);
    return withoutRefused(send, optional, lacking);
  }
}
