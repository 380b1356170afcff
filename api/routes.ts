import { applicationTokensRoutes } from './application-tokens/application-tokens.routes.ts';
import { authRoutes } from './auth/auth.routes.ts';
import { environmentsRoutes } from './environments/environments.routes.ts';
import type { AnyRoute } from './http/define-route.ts';
import { projectsRoutes } from './projects/projects.routes.ts';
import { usersRoutes } from './users/users.routes.ts';

/** Every route of the service: the router, the reference and the contract tests are made from this list. */
export const routes: readonly AnyRoute[] = [
  ...authRoutes,
  ...usersRoutes,
  ...applicationTokensRoutes,
  ...projectsRoutes,
  ...environmentsRoutes,
];
