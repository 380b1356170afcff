import { randomBytes } from 'node:crypto';
import { trace } from '@opentelemetry/api';
import type { Context, Middleware } from 'koa';
import type { Logger } from 'pino';
import { DomainError } from '../../domain/kernel/shared/errors.ts';
import { newId } from '../../domain/kernel/shared/ids.ts';
import { isUnexpected, problemOf } from './problems.ts';
import type { HttpMetrics } from './server/metrics.ts';
import { inRequestSpan } from './server/tracing.ts';

export interface RequestState {
  requestId: string;
  traceparent: string | undefined;
  log: Logger;
  /** Path template of the matched route for logs and metrics; a path with ids would make each request its own series. */
  route?: string;
  tenantId?: string;
  /** The key for which the rate limit of credentials has counted the request, and when by `performance.now()`. */
  counted?: { key: string; at: number };
  /** Whether problems also have the members `success` and `error`. */
  showsFailure?: boolean;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Wraps every request: request id, trace, log line, metrics, and errors as problem details. */
export function envelope(log: Logger, metrics: HttpMetrics): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    const given = ctx.get('x-request-id');
    const requestId = REQUEST_ID.test(given) ? given : newId();
    const state: RequestState = { requestId, traceparent: undefined, log: log.child({ requestId }) };
    Object.assign(ctx.state, state);
    ctx.set('X-Request-Id', requestId);
    metrics.inFlight.inc();
    try {
      await inRequestSpan(ctx.req.headers, `${ctx.method} ${ctx.path}`, async () => {
        ctx.state.traceparent = traceparentOf(ctx.get('traceparent'));
        await next();
        if (ctx.status === 404 && ctx.body === undefined && ctx.respond !== false)
          throw new DomainError('not_found', `No resource at ${ctx.path}`);
      });
    } catch (error) {
      answerWithProblem(ctx, error);
    } finally {
      metrics.inFlight.dec();
      const { route = 'unmatched', tenantId } = ctx.state as RequestState;
      const durationMs = performance.now() - startedAt;
      metrics.duration.observe({ method: ctx.method, route, status: String(ctx.status) }, durationMs / 1000);
      log.info(
        {
          requestId,
          tenantId,
          method: ctx.method,
          route,
          status: ctx.status,
          durationMs: Math.round(durationMs * 10) / 10,
        },
        'request',
      );
    }
  };
}

/** The trace context of the request: of its span if traces are exported, otherwise as sent by the client. */
function traceparentOf(given: string): string | undefined {
  const span = trace.getActiveSpan()?.spanContext();
  if (span && trace.isSpanContextValid(span)) {
    return `00-${span.traceId}-${span.spanId}-0${span.traceFlags & 1}`;
  }
  if (!TRACEPARENT.test(given)) return undefined;
  return `${given.slice(0, 36)}${randomBytes(8).toString('hex')}${given.slice(52)}`;
}

/** Throws `method_not_allowed` if the path has other methods than that of the request. */
export function assertMethod(ctx: Context, allowed: readonly string[]): void {
  if (allowed.length === 0 || allowed.includes(ctx.method)) return;
  throw new DomainError('method_not_allowed', `${ctx.method} is not allowed here`, {
    headers: { Allow: allowed.join(', ') },
  });
}

function answerWithProblem(ctx: Context, error: unknown): void {
  const { requestId, log, showsFailure } = ctx.state as RequestState;
  if (isUnexpected(error)) log.error({ err: error }, 'request failed');
  const { status, headers, body } = problemOf(error, ctx.path, requestId);
  // What is refused on purpose follows from an outage, which is logged by itself, or from a limit.
  if (status === 503) log[error instanceof DomainError ? 'debug' : 'warn']({ err: error }, 'dependency unavailable');
  ctx.status = status;
  ctx.set(headers);
  ctx.type = 'application/problem+json';
  ctx.body = JSON.stringify(showsFailure ? { ...body, success: false, error: body.detail } : body);
}
