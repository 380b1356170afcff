import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { causes, isConflict, isDatabaseAway, isLockTimeout } from '../../domain/kernel/data/database-trouble.ts';
import { OUTDATED_STATEMENT } from '../../domain/kernel/data/pool.ts';
import { ObjectStoreAwayError } from '../../domain/kernel/objects/object-store.port.ts';
import {
  DomainError,
  type ErrorCode,
  type ProblemMembers,
  RESERVED_MEMBERS,
} from '../../domain/kernel/shared/errors.ts';
import { fieldErrors } from '../../domain/kernel/shared/input-errors.ts';
import type { AnyRoute } from './define-route.ts';

/** HTTP status of each error code. */
export const STATUS_OF: Record<ErrorCode, number> = {
  invalid_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  mock_unmatched: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  version_conflict: 409,
  already_exists: 409,
  locked: 409,
  held: 409,
  invalid_transition: 409,
  ambiguous: 409,
  protected_branch: 409,
  in_progress: 409,
  last_owner: 409,
  flow_unavailable: 409,
  too_few_approvers: 409,
  pool_exhausted: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  unprocessable: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  not_implemented: 501,
  upstream_error: 502,
  unavailable: 503,
  upstream_timeout: 504,
};

export interface Problem {
  status: number;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

/** RFC 9457 problem details of an error. Reveals nothing about errors other than `DomainError`. */
export function problemOf(error: unknown, instance: string, requestId: string): Problem {
  const known = asDomainError(error);
  const status = STATUS_OF[known.code];
  const { members, fields, headers = {} } = known.extras;
  return {
    status,
    headers: {
      ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
      ...(status === 503 && { 'Retry-After': '5' }),
      ...headers,
    },
    body: {
      ...ownMembers(members),
      type: `urn:quayside:problem:${known.code}`,
      title: STATUS_CODES[status],
      status,
      detail: known.message,
      instance,
      code: known.code,
      requestId,
      ...(fields && { errors: fields.slice(0, SHOWN_MAX) }),
      ...(fields && fields.length > SHOWN_MAX && { moreErrors: fields.length - SHOWN_MAX }),
    },
  };
}

const RESERVED = new Set<string>(RESERVED_MEMBERS);

/** A member that slipped past the types never stands for one that every problem has. */
const ownMembers = (members: ProblemMembers = {}): ProblemMembers =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !RESERVED.has(name)));

/** SQLSTATE codes for values that passed the schema but PostgreSQL cannot store. */
const VALUE_REFUSED = new Set(['22P05', '22021', '22P02', '22003', '22007', '22008', '22001', '54001']);

function asDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  for (const cause of causes(error)) {
    const { code = '' } = cause as { code?: string };
    if (cause instanceof ObjectStoreAwayError)
      return new DomainError('unavailable', 'The store of files is temporarily unavailable; try again later');
    if (isLockTimeout(cause))
      return new DomainError(
        'unavailable',
        'Others have been changing the same resource for too long; try again later',
      );
    if (isDatabaseAway(cause))
      return new DomainError('unavailable', 'The database is temporarily unavailable; try again later');
    if (isConflict(cause))
      return new DomainError('unavailable', 'The request conflicted with a concurrent request; try again');
    if (cause.message === OUTDATED_STATEMENT)
      return new DomainError('unavailable', 'The database has just been migrated; try again');
    if (code === '57014')
      return new DomainError('unavailable', 'The database query timed out; request less data or try again later');
    if (code === '23505')
      return new DomainError('already_exists', 'A concurrent request has created the same resource');
    if (code === '23503')
      return new DomainError('not_found', 'A resource that the request refers to has just been deleted');
    if (VALUE_REFUSED.has(code)) return new DomainError('invalid_request', 'A value of the request cannot be stored');
  }
  return new DomainError('internal', 'An unexpected error occurred; the request id identifies it in the logs');
}

/** Whether the error is a bug and belongs in the log with its stack. */
export const isUnexpected = (error: unknown): boolean => asDomainError(error).code === 'internal';

type Place = 'body' | 'query' | 'headers';

/** How many invalid fields are shown, and how many are counted. */
const SHOWN_MAX = 10;
const COUNTED_MAX = 1_000;
/** The error with pointers into the request of this route, where it names fields alone. */
export function locateFields(error: unknown, route: Pick<AnyRoute, 'body' | 'query'>): unknown {
  if (!(error instanceof DomainError) || !error.extras.fields) return error;
  const fields = error.extras.fields.map(({ pointer, detail }) => ({
    detail,
    pointer: pointer.startsWith('#') ? pointer : `#/${placeOf(pointer, route)}/${pointer}`,
  }));
  return new DomainError(error.code, error.message, { ...error.extras, fields });
}

/** A field that no schema names (it is one of an open object) is one of the body where there is a body. */
function placeOf(field: string, { body, query }: Pick<AnyRoute, 'body' | 'query'>): 'body' | 'query' {
  const [name = ''] = field.split('/');
  const isIn = (schema: z.ZodType | undefined) => schema instanceof z.ZodObject && name in schema.shape;
  const [isInQuery, isInBody] = [isIn(query), isIn(body)];
  return isInQuery && !isInBody ? 'query' : body ? 'body' : 'query';
}

export const schemaViolation = (place: Place, issues: readonly z.core.$ZodIssue[]): DomainError => {
  const fields = [...fieldErrors(`#/${place}`, issues).take(COUNTED_MAX)];
  const [first] = fields;
  return new DomainError('invalid_request', `The request is not valid: ${first?.pointer} ${first?.detail}`, { fields });
};
