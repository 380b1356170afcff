import { didYouMean } from '../text/suggestion-rules.ts';

/** Codes of all problems. */
export const ERROR_CODES = [
  'invalid_request',
  'unauthenticated',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'version_conflict',
  'already_exists',
  'locked',
  'held',
  'invalid_transition',
  'ambiguous',
  'protected_branch',
  'in_progress',
  'last_owner',
  'flow_unavailable',
  'too_few_approvers',
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

/** Members that every problem body has (RFC 9457, section 3.1, and ours). */
export const RESERVED_MEMBERS = [
  'type',
  'title',
  'status',
  'detail',
  'instance',
  'code',
  'requestId',
  'errors',
  'moreErrors',
] as const;

/** What holds a release candidate back, of `held`. */
export interface HoldMember {
  /** A person, who holds it from all environments, or a verification that failed, from those after its own. */
  source: 'person' | 'verification';
  reason: string;
  /** ISO 8601; null: until it is lifted. */
  until: string | null;
  /** Where the verification failed; null for a person's. */
  environmentName: string | null;
}

/**
 * Further members of problem bodies. Those that every body has are not among them, so that no error gives these another
 * meaning; and each one stands in the published schema.
 */
export interface ProblemMembers {
  /** Where the replies of a route have these, too. */
  success?: false;
  error?: string;
  providerDetails?: { queued: boolean; notFound: boolean };
  /** `version_conflict`, `precondition_failed`; null: there is none. */
  currentVersion?: number | null;
  /** The documents that were refused, of a request for several. */
  results?: readonly object[];
  /** `ambiguous`: slugs of the tenants to choose from. */
  tenants?: readonly string[];
  /** `ambiguous`: the orgs of a name. */
  candidates?: readonly { username: string | null; sandboxName: string | null; productionUsername: string | null }[];
  secondFactor?: 'totp';
  /** When the environment takes the deployment; null: that is not known. */
  nextWindowAt?: string | null;
  /** `held` */
  hold?: HoldMember;
  /** How far a sandbox has been copied, in words of the platform and in per cent. */
  copyStatus?: string;
  copyProgress?: number;
  /** What a person can do about a failure of the platform, and its own code; null without an answer. */
  hint?: string;
  platformCode?: string | null;
  /** The mock scenario that is in the way, or answered. */
  scenario?: string;
  scenarioStatus?: string;
  /** The steps of the scenario that come nearest to the call; null: too many to look at. */
  nearest?: unknown;
}

export interface ErrorExtras {
  /** Further members of the problem body. */
  members?: ProblemMembers;
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
  new DomainError('not_found', `${what} ${name} was not found${didYouMean(name, known)}`);

/** @param what in the singular, as it begins the sentence: `The environment`. */
export const notFound = (what: string) => new DomainError('not_found', `${what} was not found`);

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

/** A repository that is not registered as a project. */
export const unregistered = (identifier: string, field = 'repositoryIdentifier') =>
  invalidField(field, `The repository ${identifier} is not registered as a project`);
