import type { z } from 'zod';
import { type Role, ROLES } from '../../domain/kernel/shared/actor.ts';
import type { RunOfToken } from '../../domain/kernel/shared/run-token-rules.ts';
import type { ErrorCode } from '../../domain/kernel/shared/errors.ts';
import type { JsonText, RawReply, Reply } from './replies.ts';
import type { PublicScope, Scope } from './scope.ts';
import type { Tag } from './openapi/tags.ts';

/** For routes that are open to everyone with a credential. */
export const ANY_ROLE = ROLES;

type Shape = z.ZodType;
type Output<S extends Shape | undefined> = S extends Shape ? z.output<S> : undefined;

export interface RouteInput<
  P extends Shape | undefined,
  Q extends Shape | undefined,
  B extends Shape | undefined,
  H extends Shape | undefined = undefined,
> {
  params: Output<P>;
  query: Output<Q>;
  body: Output<B>;
  headers: Output<H>;
}

/**
 * What an application token that is limited to projects reaches of a route:
 * - `row`: rows of its projects; PostgreSQL's policies hide all others
 * - `collection`: documents in the collections of its projects, see `domain/kernel/shared/collection-limit-rules.ts`
 * - `refused`: nothing, because the route covers the whole tenant
 * - `none`: all, because the route shows nothing of the tenant, or only the caller
 */
export type ProjectScope = 'row' | 'collection' | 'refused' | 'none';

/** Audit actions that a route may write, or the reason why it writes none. */
export type AuditPolicy = string | readonly string[] | { none: string };

type MethodAndAudit =
  | { method: 'get'; audit?: AuditPolicy }
  | { method: 'post' | 'put' | 'patch' | 'delete'; audit: AuditPolicy };

export type SuccessStatus = 200 | 201 | 202 | 204 | 206 | 302;

interface RouteShape<
  P extends Shape | undefined,
  Q extends Shape | undefined,
  B extends Shape | undefined,
  R extends Shape,
  H extends Shape | undefined = undefined,
> {
  /** Unique name of the operation in the reference and in generated clients: a verb and a noun, as `listWebhooks`. */
  operationId: string;
  /** With `{name}` for parameters; literal segments take precedence over parameters. */
  path: `/${string}`;
  /** Heading in the reference. */
  group: Tag;
  summary: string;
  description?: string;
  params?: P;
  query?: Q;
  body?: B;
  /**
   * Default: JSON; `form`: `application/x-www-form-urlencoded`; `bytes`: `application/octet-stream`, as a `Buffer`;
   * `stream`: JSON as a `Readable`, which the handler reads while it arrives.
   */
  bodyType?: 'form' | 'bytes' | 'stream';
  /** Whether each field of a form is a list of its values. Absent: the last value of a repeated field counts. */
  takesRepeatedFields?: boolean;
  /** Request headers that the handler uses, in lower case. */
  headers?: H;
  /** Whether the command of a run may make the request with the run's token, which reports and does nothing else. Absent: no. */
  admitsRun?(run: RunOfToken, input: RouteInput<P, Q, B, H>): boolean;
  /** The body has documents, which may have more members than other JSON: 250,000 instead of 50,000 in all. */
  takesDocuments?: boolean;
  /** Members and elements that the JSON of a body may have in all. Default: 50,000. */
  jsonMembersMax?: number;
  /** Size without white space from which a body is refused before it is parsed (413). */
  compactLimitBytes?: number;
  /** Refuse numbers that JavaScript cannot represent exactly instead of rounding them. */
  takesExactNumbers?: boolean;
  /** Handled again it changes nothing and answers the same: so is a repeat with an `Idempotency-Key` whose reply was lost. */
  isRepeatable?: boolean;
  /** Marks the route as deprecated in the reference. */
  isDeprecated?: boolean;
  /** Default: 5 MB; 16 KB where the body has a credential. */
  bodyLimitBytes?: number;
  /** Most bytes of a streamed body that is sent as gzip, before it is unpacked. Default: as unpacked. */
  packedLimitBytes?: number;
  /** Status of a success, and others that a `Reply` may set. */
  status: SuccessStatus;
  otherStatuses?: readonly SuccessStatus[];
  /** Schema of the JSON reply; `NoContent` for an empty one. */
  response: R;
  /** Media types of the reply, for the reference. Default: JSON alone. */
  contentTypes?: readonly string[];
  /** Errors in addition to those of every route (400, 401, 403, 404, 429, 431, 503). */
  errors?: readonly ErrorCode[];
  /** A body of JSON that errors of these statuses may have instead of that of a problem. */
  ownErrors?: { statuses: readonly number[]; body: z.ZodType };
  /** The body has a credential: rate-limited per address instead of per token, and never cached. */
  takesCredential?: boolean;
  /** The reply has a credential: never cached, and never kept for an `Idempotency-Key`. */
  givesCredential?: boolean;
  /** Problems of this route also have the members `success: false` and `error`. */
  showsFailure?: boolean;
  /** Receives hooks of other systems: rate-limited per address before the body is read. */
  takesHook?: boolean;
  /** Refuses a request by what precedes its body, such as one without a signature; the body is not read then. Throws `DomainError`. */
  admit?(given: Omit<RouteInput<P, Q, undefined, H>, 'body'>): void;
}

type Body<R extends Shape> = z.input<R> | RawReply | JsonText;
type Handled<R extends Shape> = Promise<Body<R> | Reply<Body<R>>>;

export type RouteDef<
  P extends Shape | undefined,
  Q extends Shape | undefined,
  B extends Shape | undefined,
  R extends Shape,
  H extends Shape | undefined,
> = RouteShape<P, Q, B, R, H> &
  MethodAndAudit & {
    roles: readonly Role[];
    projectScope: ProjectScope;
    handle: (input: RouteInput<P, Q, B, H>, scope: Scope) => Handled<R>;
  };

export type PublicRouteDef<
  P extends Shape | undefined,
  Q extends Shape | undefined,
  B extends Shape | undefined,
  R extends Shape,
  H extends Shape | undefined,
> = RouteShape<P, Q, B, R, H> &
  MethodAndAudit & {
    handle: (input: RouteInput<P, Q, B, H>, scope: PublicScope) => Handled<R>;
  };

/** The input of any route, parsed by its schemas. */
export interface ParsedInput {
  params: unknown;
  query: unknown;
  body: unknown;
  headers: unknown;
}

/** A route of any type, as used by the router, the reference and the contract tests. */
export type AnyRoute = RouteShape<Shape | undefined, Shape | undefined, Shape | undefined, Shape, Shape | undefined> & {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  audit?: AuditPolicy;
  projectScope: ProjectScope;
} & (
    | { roles: readonly Role[]; handle(input: ParsedInput, scope: Scope): Promise<unknown> }
    | { roles: 'public'; handle(input: ParsedInput, scope: PublicScope): Promise<unknown> }
  );

/**
 * Defines a route as data, from which the router, the reference and the contract tests are generated. It does not compile
 * without `projectScope`, and a route that mutates not without `audit`.
 */
export const defineRoute = <
  R extends Shape,
  P extends Shape | undefined = undefined,
  Q extends Shape | undefined = undefined,
  B extends Shape | undefined = undefined,
  H extends Shape | undefined = undefined,
>(
  route: RouteDef<P, Q, B, R, H>,
): AnyRoute => route;

/** Defines a route that needs no credential, and gives nothing to an application token. */
export const definePublicRoute = <
  R extends Shape,
  P extends Shape | undefined = undefined,
  Q extends Shape | undefined = undefined,
  B extends Shape | undefined = undefined,
  H extends Shape | undefined = undefined,
>(
  route: PublicRouteDef<P, Q, B, R, H>,
): AnyRoute => ({ ...route, roles: 'public', projectScope: 'none' });

/** Whether a repeated request gets the stored reply. */
export const takesIdempotencyKey = ({ method, roles, givesCredential }: AnyRoute): boolean =>
  method === 'post' && roles !== 'public' && givesCredential !== true;
