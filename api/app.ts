import Router from '@koa/router';
import Koa from 'koa';
import helmet from 'koa-helmet';
import type { Logger } from 'pino';
import type { AccessTokens } from '../domain/identity/auth/access-tokens.ts';
import { allowedMethods } from './http/allowed-methods.ts';
import type { Dependency } from '../domain/kernel/system/outages.ts';
import type { AnyRoute } from './http/define-route.ts';
import { encodedSlashes } from './http/server/encoded-slash.ts';
import { assertMethod, envelope } from './http/envelope.ts';
import { mountConsole } from './http/server/console-files.ts';
import { mountHealth } from './http/server/health.ts';
import type { HttpMetrics } from './http/server/metrics.ts';
import { type MountDeps, mountRoutes } from './http/mount-routes.ts';
import { mountReference } from './http/openapi/reference.ts';
import { replyBeforeBody } from './http/server/unread-body.ts';

export interface AppDeps extends MountDeps {
  log: Logger;
  metrics: HttpMetrics;
  accessTokens: AccessTokens;
  dependencies: readonly Dependency[];
  isStopping: () => boolean;
  basePath: string;
}

/** The HTTP application: operational endpoints, the reference and the given routes. */
export function createApp(routes: readonly AnyRoute[], deps: AppDeps): Koa {
  const { basePath } = deps;
  const app = new Koa();
  app.silent = true;
  app.use(replyBeforeBody);
  app.use(
    helmet({
      contentSecurityPolicy: { directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] }, useDefaults: false },
    }),
  );
  app.use(envelope(deps.log, deps.metrics));

  const operational = new Router({ prefix: basePath });
  mountHealth(operational, deps.dependencies, deps.isStopping);
  mountReference(operational, routes, deps);
  mountConsole(operational, deps.publicUrl);
  operational.get('/.well-known/jwks.json', async (ctx) => {
    ctx.body = await deps.accessTokens.jwks();
  });

  const methodsOf = allowedMethods(routes, basePath);
  const assertEncodedSlashes = encodedSlashes(routes, basePath);
  const api = mountRoutes(routes, deps, basePath);
  app.use(operational.routes());
  app.use(api.routes());
  // Only reached if no route matched: distinguishes a wrong method from an unknown path.
  app.use((ctx) => {
    const operationalMethods = operational.match(ctx.path, ctx.method).path.flatMap(({ methods }) => methods);
    assertMethod(ctx, [...new Set([...operationalMethods, ...methodsOf(ctx.path)])]);
    assertEncodedSlashes(ctx.path);
  });
  return app;
}
