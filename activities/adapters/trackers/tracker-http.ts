import { LRUCache } from 'lru-cache';
import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type {
  TrackerAnswer,
  TrackerFailure,
  TrackerFailureKind,
  TrackerPlatform,
} from '../../../domain/work/work-items/work-tracker.port.ts';
import { limitedForMs } from '../git-hosts/host-failures.ts';
import type { ExchangeWithHost, HostCall } from '../git-hosts/host-http.ts';
import { headerOf } from '../outbound/outbound-http.ts';

const REPLY_MAX_BYTES = 8 * 1_048_576;
const MESSAGE_MAX = 400;
/** A tracker's limits are reset within the hour; a later time is a mistake of its, which must not shut us out. */
const LIMIT_MAX_MS = 2 * 3_600_000;
const LIMITS_KEPT = 10_000;

/** Until when no call leaves with a credential. */
export interface TrackerLimits {
  until: (key: string) => Date | undefined;
  learn: (key: string, forMs: number) => Date;
}

export function createTrackerLimits(now: () => Date): TrackerLimits {
  const untilMs = new LRUCache<string, number>({ max: LIMITS_KEPT });
  return {
    until(key) {
      const time = untilMs.get(key);
      return time !== undefined && time > now().getTime() ? new Date(time) : undefined;
    },
    learn(key, forMs) {
      const time = Math.max(untilMs.get(key) ?? 0, now().getTime() + Math.min(forMs, LIMIT_MAX_MS));
      untilMs.set(key, time);
      return new Date(time);
    },
  };
}

export interface TrackerConnection {
  platform: TrackerPlatform;
  headers: Record<string, string>;
  /** What the tracker's limits apply to: the address with the credential. */
  limitKey: string;
  /** The vendor's own message in the body of a failure. */
  messageOf: (json: unknown) => string | undefined;
  /** Left out of messages: the credential as it is sent and as it was given, and the host's name. Longest first. */
  secrets: readonly string[];
  /** What a redirect means: the work item has moved, or the sign-in page. */
  redirectMeans: 'not_found' | 'auth_failed';
}

export interface TrackerCall extends Pick<HostCall, 'method' | 'url' | 'body'> {
  headers?: Record<string, string>;
}

/** One call, whose reply has the shape of `schema`. */
export type CallTracker = <Schema extends z.ZodType>(
  call: TrackerCall,
  schema: Schema,
) => Promise<TrackerAnswer<z.output<Schema>>>;

/**
 * Calls a tracker within its limits, for one operation. Every failure is a value. A pause that a successful reply asks
 * for begins after the operation: what is half done would have to be done again.
 */
export function trackerCalls(
  exchange: ExchangeWithHost,
  limits: TrackerLimits,
  { platform, headers, limitKey, messageOf, redirectMeans, secrets }: TrackerConnection,
): CallTracker {
  const limited = (retryAt: Date): TrackerFailure => ({
    ...failureOf('limited', `${platform} limits how often it is asked`),
    retryAt,
  });
  const withoutSecrets = (text: string) => secrets.reduce((masked, secret) => masked.replaceAll(secret, '***'), text);
  let ownPauseEndMs = 0;
  return async (call, schema) => {
    const closedUntil = limits.until(limitKey);
    if (closedUntil && closedUntil.getTime() > ownPauseEndMs) return limited(closedUntil);
    const answer = await exchange(platform, {
      ...call,
      headers: { ...headers, ...call.headers },
      acceptedStatuses: 'all',
      maxBytes: REPLY_MAX_BYTES,
    });
    if (!answer.isOk) {
      if (answer.isTimeout)
        return { ...failureOf('timeout', `${platform} did not answer in time`), mayBeDone: answer.mayBeDone };
      const kind = answer.isTransient ? 'unreachable' : 'refused';
      return { ...failureOf(kind, answer.reason), mayBeDone: answer.mayBeDone };
    }
    const { status, headers: received, json } = answer.value;
    const message = withoutSecrets(messageOf(json) ?? '');
    const limit = learnedLimit(status, received, message);
    const retryAt = limit === undefined ? undefined : limits.learn(limitKey, limit.forMs);
    if (limit?.isPause && retryAt) ownPauseEndMs = retryAt.getTime();
    if (status < 300 && status !== 203) {
      const parsed = schema.safeParse(json);
      if (parsed.success) return { isOk: true, value: parsed.data };
      return {
        ...failureOf('malformed', `${platform} gave an answer that is not what its interface promises`),
        mayBeDone: true,
      };
    }
    if (retryAt && isRefusedByLimit(status, received, message)) return limited(retryAt);
    const kind = status >= 300 && status < 400 ? redirectMeans : (KINDS[status] ?? kindOf(status));
    return {
      ...failureOf(kind, `${platform} answered ${status}${message === '' ? '' : `: ${message}`}`),
      mayBeDone: status >= 500,
    };
  };
}

const KINDS: Record<number, TrackerFailureKind> = {
  // A sign-in page: Azure DevOps' answer to a bad token.
  203: 'auth_failed',
  401: 'auth_failed',
  403: 'auth_failed',
  404: 'not_found',
  408: 'timeout',
  409: 'conflict',
  410: 'not_found',
  412: 'conflict',
  425: 'unreachable',
  504: 'timeout',
};
const kindOf = (status: number): TrackerFailureKind => (status >= 500 ? 'unreachable' : 'refused');

export const failureOf = (kind: TrackerFailureKind, message: string): TrackerFailure => ({
  isOk: false,
  kind,
  message: message.replaceAll(/\p{Cc}+/gu, ' ').slice(0, MESSAGE_MAX),
  mayBeDone: false,
  retryAt: null,
});

const isRefusedByLimit = (status: number, headers: IncomingHttpHeaders, message: string): boolean =>
  status === 503 || limitedForMs(status, headers, { message, nowMs: Date.now() }) !== undefined;

interface LearnedLimit {
  forMs: number;
  /** The tracker answers nevertheless, as Azure DevOps does of calls that it delays. */
  isPause: boolean;
}

/** For how long a reply asks not to be asked again; undefined for one that does not. */
function learnedLimit(status: number, headers: IncomingHttpHeaders, message: string): LearnedLimit | undefined {
  const nowMs = Date.now();
  const ofRefusal = limitedForMs(status, headers, { message, nowMs });
  if (ofRefusal !== undefined) return { forMs: ofRefusal, isPause: false };
  const header = (name: string) => headerOf(headers, name);
  // The last call of a window succeeds.
  const reset = header('x-ratelimit-reset') ?? '';
  const resetMs = /^\d+$/.test(reset) ? Number(reset) * 1_000 : Date.parse(reset);
  if (header('x-ratelimit-remaining') === '0' && resetMs > nowMs) return { forMs: resetMs - nowMs, isPause: false };
  const retryAfter = status < 300 || status === 503 ? header('retry-after') : undefined;
  if (retryAfter === undefined || !/^\d+$/.test(retryAfter)) return undefined;
  return { forMs: Number(retryAfter) * 1_000, isPause: status < 300 };
}
