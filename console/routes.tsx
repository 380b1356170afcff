import { ProblemError } from '@quayside/client';
import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { parseAddress, writeAddress } from './kernel/data/address.ts';
import { CONSOLE_PATH } from './kernel/data/client.ts';
import { meQuery } from './kernel/data/me.ts';
import { SIGNED_IN, signInHere } from './kernel/data/session.ts';
import { Loading } from './kernel/parts/page.tsx';
import { FailedPage, MissingPage, SignedInPage } from './kernel/shell/fallback-pages.tsx';
import { Shell } from './kernel/shell/shell.tsx';

const root = createRootRouteWithContext<{ queries: QueryClient }>()({ notFoundComponent: MissingPage });

/** All pages but one are for people who are signed in: others come back after the sign-in, to the same address. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in-people',
  component: Shell,
  notFoundComponent: MissingPage,
  async beforeLoad({ context: { queries } }) {
    try {
      await queries.ensureQueryData(meQuery);
    } catch (error) {
      if (!(error instanceof ProblemError) || error.problem.status !== 401) throw error;
      signInHere();
      await new Promise(() => undefined);
    }
  },
});

const page = <Path extends string>(path: Path, load: () => Promise<Record<string, unknown>>, name: string) =>
  createRoute({
    getParentRoute: () => signedIn,
    path,
    component: lazyRouteComponent(load as () => Promise<Record<string, never>>, name),
  });

const tree = root.addChildren([
  createRoute({ getParentRoute: () => root, path: `/${SIGNED_IN}`, component: SignedInPage }),
  signedIn.addChildren([
    page('/', () => import('./people/attention/attention.page.tsx'), 'AttentionPage'),
    page('/where', () => import('./delivery/where/where.page.tsx'), 'WherePage'),
    page('/candidates', () => import('./delivery/candidates/candidates.page.tsx'), 'CandidatesPage'),
    page('/candidates/$id', () => import('./delivery/candidates/candidate.page.tsx'), 'CandidatePage'),
    page('/environments', () => import('./projects/environments/environments.page.tsx'), 'EnvironmentsPage'),
    page('/environments/$id', () => import('./projects/environments/environment.page.tsx'), 'EnvironmentPage'),
    page('/inbox', () => import('./delivery/approvals/inbox.page.tsx'), 'InboxPage'),
    page('/runs', () => import('./delivery/runs/runs.page.tsx'), 'RunsPage'),
    page('/runs/$id', () => import('./delivery/runs/run.page.tsx'), 'RunPage'),
    page('/work-items', () => import('./delivery/work-items/work-items.page.tsx'), 'WorkItemsPage'),
    page('/work-items/$key', () => import('./delivery/work-items/work-item.page.tsx'), 'WorkItemPage'),
    page('/hotfix', () => import('./delivery/hotfix/hotfix.page.tsx'), 'HotfixPage'),
  ]),
]);

export const createConsoleRouter = (queries: QueryClient) =>
  createRouter({
    routeTree: tree,
    basepath: CONSOLE_PATH,
    context: { queries },
    parseSearch: parseAddress,
    stringifySearch: writeAddress,
    defaultPreload: 'intent',
    defaultPendingComponent: Loading,
    defaultErrorComponent: FailedPage,
    defaultNotFoundComponent: MissingPage,
    scrollRestoration: true,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
