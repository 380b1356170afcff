import { didYouMean } from './suggestion-rules.ts';

const ERROR_CODES = [
  'invalid_request',
  'unauthenticated',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'version_conflict',
  'already_exists',
  'locked',
  'invalid_transition',
  'ambiguous',
  'protected_branch',
  'in_progress',
  'last_owner',
  'flow_unavailable',
  'pool_exhausted',
  'mock_unmatched',
  'precondition_failed',
  'payload_too_large',
  'unsupported_media_type',
  'range_not_satisfiable',
  'unprocessable',
  'rate_limited',
  'request_timeout',
  'headers_too_large',
  'not_implemented',
  'upstream_error',
  'upstream_timeout',
  'unavailable',
  'internal',
] as const;
/** Every way in which the service refuses or fails; `api/http/problems.ts` maps each to one HTTP status. */
export type ErrorCode = (typeof ERROR_CODES)[number];

export const isErrorCode = (text: unknown): text is ErrorCode => ERROR_CODES.some((code) => code === text);

export interface FieldError {
  detail: string;
  /**
   * A JSON pointer into the request (`#/body/config/url`, `#/query/limit`), or the field's path alone (`config/url`):
   * then the route that was called knows where in its request the field is.
   */
  pointer: string;
}

/** Members that every problem body has (RFC 9457, section 3.1, and ours): no error may give them another meaning. */
type ReservedMember =
  | 'type'
  | 'title'
  | 'status'
  | 'detail'
  | 'instance'
  | 'code'
  | 'requestId'
  | 'errors'
  | 'moreErrors';

export interface ErrorExtras {
  /** Further members of the problem body. */
  members?: Record<string, unknown> & { [Name in ReservedMember]?: never };
  fields?: FieldError[];
  headers?: Record<string, string>;
}

/** The one error that rules, queries and handlers throw on purpose; `message` is shown to the caller. */
export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly extras: ErrorExtras;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message);
    this.name = 'DomainError';
    this.code = code;
    this.extras = extras;
  }
}

/** Nothing of that name, among others of its kind that the caller may see. */
export const unknownName = (what: string, name: string, known: readonly string[]) =>
  new DomainError('not_found', `${what} ${name} not found${didYouMean(name, known)}`);

export const notFound = (what: string) => new DomainError('not_found', `${what} not found`);

/**
 * A refusal of one field by a rule that no schema can express.
 * @param field its path in the request, segments parted by slashes: `teams`, `filters/3/value`.
 */
export const invalidField = (field: string, detail: string) =>
  new DomainError('invalid_request', detail, { fields: [{ pointer: field, detail }] });

/** A segment of a JSON pointer (RFC 6901). */
export const escapePointer = (segment: string): string => segment.replaceAll('~', '~0').replaceAll('/', '~1');

export const versionConflict = (what: string, currentVersion: number) =>
  new DomainError('version_conflict', `${what} was changed in the meantime; its current version is ${currentVersion}`, {
    members: { currentVersion },
  });

/** An external system did not do its part. @param system begins the sentence: `host-a`. */
export const upstreamFailed = (system: string, reason: 'timeout' | 'error') =>
  reason === 'timeout'
    ? new DomainError('upstream_timeout', `${system} did not answer in time`)
    : new DomainError('upstream_error', `${system} is not reachable or gave no usable answer`);
