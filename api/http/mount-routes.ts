import { HOOKS } from '../../domain/areas.ts';
import Router, { type RouterContext } from '@koa/router';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Authenticator } from '../../domain/identity/auth/authenticator.ts';
import { hashSecret } from '../../domain/kernel/encryption/secrets.ts';
import type { FencedReads } from '../../domain/kernel/data/fenced-reads.ts';
import type { Idempotency } from '../../domain/kernel/idempotency/idempotency.mutations.ts';
import type { Actor } from '../../domain/kernel/shared/actor.ts';
import { addressKey, clientAddress, type TrustedProxies } from '../../domain/kernel/outbound/client-address.ts';
import { DomainError } from '../../domain/kernel/shared/errors.ts';
import { unitOfWork, type WorkContext, type UnitOfWork, type CommitSignals } from '../../domain/unit-of-work.ts';
import { allowedMethods } from './allowed-methods.ts';
import type { Cookies } from './cookies.ts';
import { identify, visitorOf } from './credentials.ts';
import type { CompressBody } from './server/compression.ts';
import { type AnyRoute, takesIdempotencyKey } from './define-route.ts';
import { assertMethod, type RequestState } from './envelope.ts';
import { encodedSlashes } from './server/encoded-slash.ts';
import { goneSignal } from './server/gone-signal.ts';
import { answerOnce } from './idempotency.ts';
import { locateFields } from './problems.ts';
import { assertCollectionWithinLimit, assertRouteWithinLimit, withinLimit } from './project-limit.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Answer } from './replies.ts';
import type { Slots } from '../../domain/kernel/queues/slots.ts';
import { leadsToSignIn } from './sign-in-first.ts';
import { assertAdmitsRuns, assertOwnRun } from './run-token-limit.ts';
import { changesOfRequest } from './request-changes.ts';
import { type Bodies, createReadBytes } from './server/read-bytes.ts';
import { headOf, withBody } from './request-input.ts';
import type { Adapters, BaseScope } from './scope.ts';
import { answerOf, send } from './send-answer.ts';

const NO_BYTES = Buffer.alloc(0);
/** Who sends the bodies of public routes. */
const STRANGERS = '';

export interface MountDeps {
  orm: MikroORM;
  reads: FencedReads;
  /** Where transactions of requests wait for one of the connections that their tenant may have. */
  changes: Slots;
  authenticator: Authenticator;
  idempotency: Idempotency;
  adapters: Adapters;
  tokenLimit: RateLimit;
  addressLimit: RateLimit;
  hookAddressLimit: RateLimit;
  trustedProxies: TrustedProxies;
  cookies: Cookies;
  compressBody: CompressBody;
  signals: CommitSignals;
  publicUrl: string;
  now: () => Date;
}

/**
 * The router for a list of routes; literal segments take precedence over parameters, regardless of the order. A path
 * with a literal segment has the methods of that path only, unless the segment is a good value of a parameter, too.
 */
export function mountRoutes(routes: readonly AnyRoute[], deps: MountDeps, basePath: string): Router {
  const router = new Router({ prefix: basePath });
  const bodiesOf = createReadBytes();
  const methodsOf = allowedMethods(routes, basePath);
  const assertEncodedSlashes = encodedSlashes(routes, basePath);
  for (const route of routes.toSorted(literalFirst)) {
    router[route.method](route.path.replace(/\{(\w+)\}/g, ':$1'), async (ctx) => {
      ctx.state.showsFailure = route.showsFailure;
      ctx.set('Cache-Control', 'no-store');
      const isMalformed = route.params?.safeParse(ctx.params).success === false;
      const assertPath = () => {
        if (isMalformed) assertEncodedSlashes(ctx.path);
      };
      try {
        if (isMalformed) assertMethod(ctx, methodsOf(ctx.path));
        await serve(route, deps, ctx, { bodiesOf, assertPath });
      } catch (error) {
        if (route.roles !== 'public' && leadsToSignIn(ctx, error, basePath)) return;
        throw locateFields(error, route);
      }
    });
  }
  return router;
}

/** Sorts `a` before `b` if the first segment that differs is literal in `a`. */
function literalFirst({ path: a }: AnyRoute, { path: b }: AnyRoute): number {
  const [left, right] = [a.split('/'), b.split('/')];
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const isLeftParameter = left[index]?.startsWith('{') ?? false;
    const isRightParameter = right[index]?.startsWith('{') ?? false;
    if (isLeftParameter !== isRightParameter) return isLeftParameter ? 1 : -1;
  }
  return left.length - right.length;
}

interface ServingParts {
  bodiesOf: (holder: string) => Bodies;
  /** Throws the path as it should be, where slashes of an identifier are not encoded: for those who may know of it. */
  assertPath: () => void;
}

/**
 * Serves a request. Whatever can refuse it without its body comes first: credential or signature, rate limit, role,
 * path, query and headers, declared size.
 */
async function serve(route: AnyRoute, deps: MountDeps, ctx: RouterContext, parts: ServingParts): Promise<void> {
  const state = ctx.state as RequestState;
  state.route = route.path;
  const base = {
    adapters: deps.adapters,
    now: deps.now,
    log: state.log,
    requestId: state.requestId,
    traceparent: state.traceparent,
    publicUrl: deps.publicUrl,
    requestUrl: ctx.url,
  };
  const changes = changesOfRequest(deps.changes);
  const actingAs: ActingAs = (actor, beforeRecord) => {
    const unit = unitOfWork(deps.orm, {
      actor,
      ...(beforeRecord && { beforeRecord }),
      requestId: state.requestId,
      traceparent: state.traceparent,
      now: deps.now,
      signals: deps.signals,
      hooks: HOOKS,
    });
    return (work) => changes(actor.tenantId, () => unit(work));
  };
  const answer =
    route.roles === 'public'
      ? await servePublic(route, deps, ctx, { ...parts, base, actingAs })
      : await serveActor(route, deps, ctx, { ...parts, base, actingAs });
  const { isKnown } = await send(ctx, answer, deps.compressBody);
  if (isKnown && state.counted) deps.tokenLimit.countUnchanged(state.counted.key, state.counted.at);
}

type ActingAs = (actor: Actor, beforeRecord?: WorkContext['beforeRecord']) => UnitOfWork;

interface RequestParts extends ServingParts {
  base: BaseScope;
  actingAs: ActingAs;
}

async function servePublic(
  route: Extract<AnyRoute, { roles: 'public' }>,
  deps: MountDeps,
  ctx: RouterContext,
  { bodiesOf, assertPath, base, actingAs }: RequestParts,
): Promise<Answer> {
  assertPath();
  const head = headOf(route, ctx);
  route.admit?.(head);
  const address = addressKey(clientAddress(ctx.ip, ctx.get('x-forwarded-for'), deps.trustedProxies));
  if (route.takesCredential) ctx.set(await deps.addressLimit(address));
  if (route.takesHook) ctx.set(await deps.hookAddressLimit(address));
  const { input, body } = await withBody(route, head, ctx, bodiesOf(STRANGERS));
  const output = await route.handle(input, {
    ...base,
    ...visitorOf(deps, ctx),
    actingAs,
    address,
    bodyBytes: body?.bytes ?? NO_BYTES,
  });
  return answerOf(route, output);
}

async function serveActor(
  route: Exclude<AnyRoute, { roles: 'public' }>,
  deps: MountDeps,
  ctx: RouterContext,
  { bodiesOf, assertPath, base, actingAs }: RequestParts,
): Promise<Answer> {
  const state = ctx.state as RequestState;
  const { actor, secret } = await identify(deps, ctx);
  state.tenantId = actor.tenantId;
  state.log = state.log.child({ tenant: actor.tenantId });
  const counted = hashSecret(secret);
  ctx.set(await deps.tokenLimit(counted));
  state.counted = { key: counted, at: performance.now() };
  if (!route.roles.includes(actor.role)) {
    throw new DomainError('forbidden', `Forbidden - Requires role: ${route.roles.join(', ')}`);
  }
  assertPath();
  assertAdmitsRuns(route, actor);
  assertRouteWithinLimit(route, actor);
  const head = headOf(route, ctx);
  assertCollectionWithinLimit(route, actor, head.params);
  const { input, body } = await withBody(route, head, ctx, bodiesOf(actor.tenantId));
  assertOwnRun(route, actor, input);
  const { handle } = route;
  const gone = () => goneSignal(ctx.res);
  const reads = deps.reads.as(actor, gone);
  const key = takesIdempotencyKey(route) ? ctx.get('idempotency-key') : '';
  const handled = (tx: UnitOfWork, undo: UnitOfWork) =>
    withinLimit(actor, async () =>
      answerOf(
        route,
        await handle(input, { ...base, log: state.log, actor, tx, undo, reads, gone, isKeyed: key !== '' }),
      ),
    );
  if (key === '') {
    const tx = actingAs(actor);
    return handled(tx, tx);
  }
  const keyed = { subject: `${actor.type}:${actor.id}`, method: ctx.method, path: ctx.url, key };
  return answerOnce(
    deps.idempotency,
    actingAs(actor),
    { ...keyed, bodyBytes: body?.bytes ?? NO_BYTES },
    {
      handle: () =>
        handled(
          actingAs(actor, route.isRepeatable ? undefined : (tx) => deps.idempotency.markDone(tx, keyed)),
          actingAs(actor, (tx) => deps.idempotency.markUndone(tx, keyed)),
        ),
      onLostReply: (error) =>
        state.log.warn({ err: error }, 'the reply to a request with an Idempotency-Key was not kept'),
    },
  );
}
