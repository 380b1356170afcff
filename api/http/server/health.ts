import type Router from '@koa/router';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { type Dependency, stateOf } from '../../../domain/kernel/system/outages.ts';

const CHECK_TIMEOUT_MS = 2_000;

/**
 * `GET /healthz`: the process is alive. `GET /readyz`: the state of each dependency; 200 while the API can accept
 * requests (`degraded` where an optional dependency does not answer), 503 when it cannot or the process is stopping.
 * `GET /metrics`: says where the metrics are.
 */
export function mountHealth(router: Router, dependencies: readonly Dependency[], isStopping: () => boolean): void {
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/metrics', () => {
    throw new DomainError(
      'not_found',
      'The metrics of each process are served at /metrics of a port of its own, METRICS_PORT (9464 by default), which only Prometheus need reach',
    );
  });
  router.get('/readyz', async (ctx) => {
    const checks = await Promise.all(
      dependencies.map(async (dependency) => ({ ...dependency, ...(await stateOf(dependency, CHECK_TIMEOUT_MS)) })),
    );
    const status = isStopping() ? 'stopping' : readinessOf(checks);
    ctx.status = status === 'ready' || status === 'degraded' ? 200 : 503;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { status, dependencies: Object.fromEntries(checks.map(({ name, state }) => [name, state])) };
  });
}

function readinessOf(checks: readonly { isOptional?: boolean; state: 'up' | 'down' }[]) {
  const down = checks.filter(({ state }) => state === 'down');
  if (down.length === 0) return 'ready';
  return down.every(({ isOptional }) => isOptional) ? 'degraded' : 'not ready';
}
