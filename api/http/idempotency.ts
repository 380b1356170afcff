import { STATUS_OF } from './problems.ts';
import type {
  Claim,
  Idempotency,
  KeptReply,
  KeyedRequest,
} from '../../domain/kernel/idempotency/idempotency.mutations.ts';
import { DomainError } from '../../domain/kernel/shared/errors.ts';
import type { UnitOfWork } from '../../domain/unit-of-work.ts';
import { type Answer, RawReply } from './replies.ts';

export const IDEMPOTENCY_KEY_MAX = 255;

/** Refusals of what a request itself says. Others come from a state, which may be another one when the request is repeated. */
const REFUSED_FOR_GOOD: ReadonlySet<number> = new Set([400, 413, 415, 422]);

const isKept = (status: number): boolean => status < 400 || REFUSED_FOR_GOOD.has(status);

/**
 * Handles a request with an `Idempotency-Key` once; a repeated request gets the stored reply. What was refused for a state,
 * as 404, 409 or 412, and failures of the service are not stored: a repeated request is handled again.
 */
export async function answerOnce(
  idempotency: Idempotency,
  tx: UnitOfWork,
  request: KeyedRequest,
  { handle, onLostReply }: { handle: () => Promise<Answer>; onLostReply: (error: unknown) => void },
): Promise<Answer> {
  if (request.key.length > IDEMPOTENCY_KEY_MAX)
    throw new DomainError('invalid_request', `Idempotency-Key is longer than ${IDEMPOTENCY_KEY_MAX}`);
  const claim = await idempotency.claim(tx, request);
  if (claim.outcome !== 'mine') return replay(claim);
  let answer: Answer;
  try {
    answer = await handle();
  } catch (error) {
    const noted =
      error instanceof DomainError && isKept(STATUS_OF[error.code])
        ? idempotency.keep(tx, request, {
            status: 0,
            headers: {},
            body: { code: error.code, message: error.message, extras: error.extras },
          })
        : idempotency.free(tx, request);
    // The error that the request met is its answer, whether or not that can be noted.
    await noted.catch(onLostReply);
    throw error;
  }
  const kept = keptReply(answer);
  // What was done counts, whether or not its reply can be kept.
  await (kept ? idempotency.keep(tx, request, kept) : idempotency.free(tx, request)).catch(onLostReply);
  return answer;
}

/** What of an answer is repeated; undefined for one that may be another later, and for one that is sent as it comes. */
function keptReply({ status, headers, body }: Answer): KeptReply | undefined {
  if (!isKept(status)) return undefined;
  if (Buffer.isBuffer(body)) return { status, headers, body: body.toString() };
  return body instanceof RawReply ? undefined : { status, headers, body };
}

function replay(claim: Exclude<Claim, { outcome: 'mine' }>): Answer {
  switch (claim.outcome) {
    case 'running':
      throw new DomainError('in_progress', 'A request with this Idempotency-Key is still being processed', {
        headers: { 'Retry-After': '1' },
      });
    case 'done':
      throw new DomainError(
        'already_exists',
        'The request with this Idempotency-Key was executed, and its reply was lost: look up what it made',
      );
    case 'other_body':
      throw new DomainError('unprocessable', 'This Idempotency-Key has been used with a different body');
    case 'replayed':
      return withReplayHeader(claim.reply);
  }
}

function withReplayHeader({ status, headers, body }: KeptReply): Answer {
  const replayed = { ...headers, 'Idempotency-Replayed': 'true' };
  if (status !== 0) return { status, headers: replayed, body };
  const { code, message, extras } = body as Pick<DomainError, 'code' | 'message' | 'extras'>;
  throw new DomainError(code, message, { ...extras, headers: { ...extras.headers, ...replayed } });
}
