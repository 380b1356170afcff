import { wholeBytes } from '../../../domain/kernel/shared/whole-bytes.ts';

interface Bounds {
  /** From the request to the last byte of the response. */
  timeoutMs: number;
  maxBytes: number;
}

/** Fetches from systems that the operator configured: bounded in time and size, without following redirects. */
export const boundedFetch =
  ({ timeoutMs, maxBytes }: Bounds) =>
  async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const clock = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, clock]) : clock;
    const answer = await fetch(url, { ...init, redirect: 'manual', signal });
    const { status, statusText, headers } = answer;
    const body = await readWhole(answer, maxBytes);
    return new Response(body.length === 0 ? null : body, { status, statusText, headers });
  };

/** The body of an answer. Throws `TooLargeError`. */
export const readWhole = async ({ body }: Pick<Response, 'body'>, maxBytes: number): Promise<Buffer<ArrayBuffer>> =>
  body ? wholeBytes(body, maxBytes) : Buffer.alloc(0);

/** Why a fetch failed: it took too long, or something else went wrong. */
export function failureOf(error: unknown): { outcome: 'failed'; reason: 'timeout' | 'error' } {
  for (
    let cause = error as Partial<Error> | null | undefined;
    cause;
    cause = cause.cause as Partial<Error> | undefined
  ) {
    if (cause.name === 'TimeoutError') return { outcome: 'failed', reason: 'timeout' };
  }
  return { outcome: 'failed', reason: 'error' };
}
