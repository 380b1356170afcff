import { RedirectedError, UnreachableError } from './problems.ts';
import { retryAfterMs, wait } from './waiting.ts';

type Fetch = typeof globalThis.fetch;

/** What tests replace. */
export interface TransportParts {
  fetch: Fetch;
  wait: typeof wait;
  now: () => number;
  random: () => number;
}

const RETRIES_MAX = 4;
const RETRY_WITHIN_MS = 30_000;
const FIRST_PAUSE_MS = 250;
const REDIRECTS_MAX = 5;

const isSafe = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD';

/** Whether the request may have been done already, and nothing is done twice by sending it again. */
const isRepeatable = (request: Request): boolean =>
  isSafe(request) || (request.method === 'POST' && request.headers.has('idempotency-key'));

/**
 * `fetch` with what every request of a pipeline or page needs: refusals for the moment (429, 503) are asked again after
 * `Retry-After`; lost connections for GET and POST with a key; four times within 30 s at most. Redirects are followed
 * within the origin alone. Rejects with `UnreachableError`, `RedirectedError`, or the reason of the request's signal.
 */
export function transport(parts: Partial<TransportParts> = {}): (request: Request) => Promise<Response> {
  const { now = Date.now, random = Math.random, wait: pause = wait } = parts;
  const send: Fetch = (...given) => (parts.fetch ?? globalThis.fetch)(...given);
  const backoffMs = (attempt: number) => FIRST_PAUSE_MS * 2 ** attempt * (0.5 + random() / 2);

  return async (request) => {
    const began = now();
    for (let attempt = 0; ; attempt += 1) {
      const isLast = attempt === RETRIES_MAX;
      const outcome = await attemptOf(isLast ? request : request.clone(), send);
      const pauseMs = isLast ? undefined : pauseAfter(outcome, request, { attempt, now: now(), backoffMs });
      if (pauseMs === undefined || now() + pauseMs - began > RETRY_WITHIN_MS) {
        if (outcome instanceof Response) return outcome;
        throw outcome;
      }
      if (outcome instanceof Response) void outcome.body?.cancel().catch(() => undefined);
      await pause(pauseMs, request.signal);
    }
  };
}

/** Milliseconds until the request is sent again; undefined: it is not. */
function pauseAfter(
  outcome: Response | Error,
  request: Request,
  { attempt, now, backoffMs }: { attempt: number; now: number; backoffMs: (attempt: number) => number },
): number | undefined {
  if (!(outcome instanceof Response))
    return outcome instanceof UnreachableError && isRepeatable(request) ? backoffMs(attempt) : undefined;
  const { status, headers } = outcome;
  if (status === 429 || status === 503)
    return retryAfterMs(headers, now) ?? (isRepeatable(request) ? backoffMs(attempt) : undefined);
  // The first attempt is still being handled, and its connection was lost.
  if (status === 409 && attempt > 0 && headers.get(IN_PROGRESS) !== null) return backoffMs(attempt);
  return undefined;
}

/** Notes on a buffered reply that its code says so. */
const IN_PROGRESS = 'x-quayside-in-progress';

async function attemptOf(request: Request, send: Fetch): Promise<Response | Error> {
  try {
    return await buffered(await withinOrigin(request, send));
  } catch (error) {
    if (request.signal.aborted) return request.signal.reason instanceof Error ? request.signal.reason : abortion();
    if (error instanceof RedirectedError || error instanceof DOMException) return error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return new UnreachableError(`No answer from ${new URL(request.url).origin}: ${said(cause)}`, { cause: error });
  }
}

const abortion = () => new DOMException('The request was given up', 'AbortError');

/** Some failures of a socket have a code and no message. */
function said(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}

async function withinOrigin(request: Request, send: Fetch): Promise<Response> {
  let response = await send(request);
  for (let count = 0; isRedirect(response); count += 1) {
    const to = response.headers.get('location');
    const next = to === null ? undefined : new URL(to, request.url);
    const isOwn = next?.origin === new URL(request.url).origin;
    if (next === undefined || !isOwn || !isSafe(request) || count === REDIRECTS_MAX)
      throw new RedirectedError(`${request.url} leads to ${next?.href ?? 'another address'}, which is not followed`);
    const { headers, signal, credentials } = request;
    response = await send(new Request(next, { headers, signal, credentials, redirect: 'manual' }));
  }
  return response;
}

const isRedirect = ({ status, type, headers }: Response): boolean =>
  type === 'opaqueredirect' || (status >= 300 && status < 400 && headers.has('location'));

/** A JSON reply is read here, so that a connection that is lost within it counts as lost. */
async function buffered(response: Response): Promise<Response> {
  const { status, statusText, headers, body } = response;
  if (body === null || !/json/.test(headers.get('content-type') ?? '')) return response;
  const text = await response.text();
  const kept = new Headers(headers);
  if (status === 409 && /"code"\s*:\s*"in_progress"/.test(text)) kept.set(IN_PROGRESS, 'true');
  return new Response(text, { status, statusText, headers: kept });
}
