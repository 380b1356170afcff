import type Router from '@koa/router';
import { within } from '../../domain/shared/within.ts';

/** A dependency that each readiness check probes: `check` resolves if it answers, otherwise rejects. */
export interface Dependency {
  name: string;
  check: () => Promise<unknown>;
}

const CHECK_TIMEOUT_MS = 2_000;

/**
 * `GET /healthz`: the process is alive. `GET /readyz`: the state of each dependency; 200 if all answer, 503 if one does
 * not or the process is stopping.
 */
export function mountHealth(router: Router, dependencies: readonly Dependency[], isStopping: () => boolean): void {
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    const checks = await Promise.all(
      dependencies.map(async ({ name, check }) => [name, await stateOf(check)] as const),
    );
    const isReady = !isStopping() && checks.every(([, state]) => state === 'up');
    ctx.status = isReady ? 200 : 503;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      status: isReady ? 'ready' : isStopping() ? 'stopping' : 'not ready',
      dependencies: Object.fromEntries(checks),
    };
  });
}

async function stateOf(check: () => Promise<unknown>): Promise<'up' | 'down'> {
  try {
    const answered = check().then((): 'up' => 'up');
    return await within(CHECK_TIMEOUT_MS, answered, () => 'down');
  } catch {
    return 'down';
  }
}
