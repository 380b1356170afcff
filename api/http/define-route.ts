import type { z } from 'zod';
import { type Role, ROLES } from '../../domain/shared/actor.ts';
import type { ErrorCode } from '../../domain/shared/errors.ts';
import type { JsonText, RawReply, Reply } from './replies.ts';
import type { PublicScope, Scope } from './scope.ts';

/** Everybody with a credential. */
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

/** What a route writes to the audit trail: the actions it may write, or none for a reason. */
export type AuditPolicy = string | readonly string[] | { none: string };

type MethodAndAudit =
  | { method: 'get'; audit?: never }
  | { method: 'post' | 'put' | 'patch' | 'delete'; audit: AuditPolicy };

export type SuccessStatus = 200 | 201 | 202 | 204 | 302;

interface RouteShape<
  P extends Shape | undefined,
  Q extends Shape | undefined,
  B extends Shape | undefined,
  R extends Shape,
  H extends Shape | undefined = undefined,
> {
  /** Name of the operation in the reference and in generated clients: a verb and a noun, unique (`listWebhooks`). */
  operationId: string;
  /** With `{name}` for parameters; a literal segment wins over a parameter. */
  path: `/${string}`;
  /** The heading of the group in the reference. */
  group: string;
  summary: string;
  description?: string;
  params?: P;
  query?: Q;
  body?: B;
  /** JSON when absent; `form`: as an HTML form without files sends it. */
  bodyType?: 'form';
  /** Request headers that the handler reads, in lower case. */
  headers?: H;
  /** Refuses a body with a number that JavaScript does not hold exactly, instead of rounding it. */
  takesExactNumbers?: boolean;
  /** Shown as deprecated in the reference. */
  isDeprecated?: boolean;
  /** 5 MB when absent. */
  bodyLimitBytes?: number;
  /** The usual success, and others that a `Reply` may choose. */
  status: SuccessStatus;
  otherStatuses?: readonly SuccessStatus[];
  /** Shape of the JSON answer; `NoContent` for an empty one. */
  response: R;
  /** Set when the answer is not JSON: its media type, for the reference. */
  contentType?: string;
  /** Refusals beside those that every route has (400, 401, 403, 404, 429, 503). */
  errors?: readonly ErrorCode[];
  /** Takes a credential in its body: limited per address instead of per token. */
  takesCredential?: boolean;
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

/** A route with its types forgotten, as the mount, the reference and the contract tests see it. */
export type AnyRoute = RouteShape<Shape | undefined, Shape | undefined, Shape | undefined, Shape, Shape | undefined> & {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  audit?: AuditPolicy;
} & (
    | { roles: readonly Role[]; handle: (input: never, scope: Scope) => Promise<unknown> }
    | { roles: 'public'; handle: (input: never, scope: PublicScope) => Promise<unknown> }
  );

/**
 * A route as data: the router, the reference and the contract tests are made from the list of these. A route that
 * mutates does not compile without `audit`.
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

/** A route that anyone may call. */
export const definePublicRoute = <
  R extends Shape,
  P extends Shape | undefined = undefined,
  Q extends Shape | undefined = undefined,
  B extends Shape | undefined = undefined,
  H extends Shape | undefined = undefined,
>(
  route: PublicRouteDef<P, Q, B, R, H>,
): AnyRoute => ({ ...route, roles: 'public' }) as unknown as AnyRoute;
