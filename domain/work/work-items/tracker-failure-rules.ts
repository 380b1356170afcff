import { DomainError, notFound } from '../../kernel/shared/errors.ts';
import type { TrackerFailure } from './work-tracker.port.ts';

/** A tracker did not do what a request needs. @param what begins the sentence where it is missing: `Work item 12`. */
export function trackerFailed(what: string, { kind, message, retryAt }: TrackerFailure, now: Date): DomainError {
  switch (kind) {
    case 'not_found':
      return notFound(what);
    case 'conflict':
      return new DomainError('version_conflict', `${what} was changed in the meantime; try again`);
    case 'refused':
      return new DomainError('invalid_request', message);
    case 'timeout':
      return new DomainError('upstream_timeout', message);
    case 'limited':
      return new DomainError('upstream_error', message, {
        headers: { 'Retry-After': String(secondsUntil(retryAt ?? now, now)) },
      });
    case 'auth_failed':
    case 'unreachable':
    case 'malformed':
      return new DomainError('upstream_error', message);
  }
}

/** The error of a failure where a person's token is used: a refusal of the token is `invalid_request` of `authToken`. */
export function tokenFailed(what: string, failure: TrackerFailure, now: Date): DomainError {
  if (failure.kind !== 'auth_failed') return trackerFailed(what, failure, now);
  return new DomainError('invalid_request', failure.message, {
    fields: [{ pointer: 'authToken', detail: failure.message }],
  });
}

/** At least one. */
const secondsUntil = (time: Date, now: Date): number =>
  Math.max(1, Math.ceil((time.getTime() - now.getTime()) / 1_000));
