import type { AnyRoute } from '../../api/http/define-route.ts';
import { routes } from '../../api/routes.ts';
import type { TestApp } from '../support/app.ts';
import type { RequestOptions } from '../support/client.ts';
import { type BaseFixtures, type Example, type FeatureCalls, type FeatureExamples, fresh } from './examples/example.ts';
import { aiReportsExamples } from './examples/ai-reports.examples.ts';
import { approvalsExamples } from './examples/approvals.examples.ts';
import { environmentLocksExamples } from './examples/environment-locks.examples.ts';
import { gcLedgerExamples } from './examples/gc-ledger.examples.ts';
import { codeAnalysisExamples } from './examples/code-analysis.examples.ts';
import { integrationsExamples } from './examples/integrations.examples.ts';
import { flowsExamples } from './examples/flows.examples.ts';
import { buildsExamples } from './examples/builds.examples.ts';
import { documentsExamples } from './examples/documents.examples.ts';
import { auditExamples } from './examples/audit.examples.ts';
import { projectsExamples } from './examples/projects.examples.ts';
import { releaseCandidatesExamples } from './examples/release-candidates.examples.ts';
import { signInExamples } from './examples/sign-in.examples.ts';
import { releasesExamples } from './examples/releases.examples.ts';
import { userActivityExamples } from './examples/user-activity.examples.ts';
import { usersExamples } from './examples/users.examples.ts';
import { chatExamples } from './examples/chat.examples.ts';
import { crmOrgsExamples } from './examples/crm-orgs.examples.ts';
import { metricsExamples } from './examples/metrics.examples.ts';
import { orgLimitsExamples } from './examples/org-limits.examples.ts';
import { mocksExamples } from './examples/mocks.examples.ts';
import { orgExplorerExamples } from './examples/org-explorer.examples.ts';
import { browserSessionsExamples } from './examples/browser-sessions.examples.ts';
import { reviewPoolsExamples } from './examples/review-pools.examples.ts';
import { webhooksExamples } from './examples/webhooks.examples.ts';
import { workItemsExamples } from './examples/work-items.examples.ts';
import { workItemRequestsExamples } from './examples/work-item-requests.examples.ts';

const FEATURES: readonly FeatureExamples[] = [
  usersExamples,
  auditExamples,
  integrationsExamples,
  crmOrgsExamples,
  orgExplorerExamples,
  signInExamples,
  projectsExamples,
  environmentLocksExamples,
  approvalsExamples,
  flowsExamples,
  releaseCandidatesExamples,
  releasesExamples,
  buildsExamples,
  aiReportsExamples,
  gcLedgerExamples,
  codeAnalysisExamples,
  reviewPoolsExamples,
  browserSessionsExamples,
  metricsExamples,
  mocksExamples,
  orgLimitsExamples,
  userActivityExamples,
  chatExamples,
  webhooksExamples,
  workItemsExamples,
  workItemRequestsExamples,
  documentsExamples,
];

const featureByOperation = new Map(
  FEATURES.flatMap((feature) => feature.operations.map((operation) => [operation, feature] as const)),
);

/** Gives valid calls of routes, on things that it makes once for each feature. */
export interface Examples {
  of: (route: AnyRoute) => Promise<Example>;
  /** Ids and names of the things that were made: another tenant may see none. */
  secrets: () => string[];
}

/** Examples in the tenant of the app's owner. */
export function makeExamples(app: TestApp): Examples {
  const callsOf = new Map<FeatureExamples, Promise<FeatureCalls>>();
  const made: string[] = [];
  let base: Promise<BaseFixtures> | undefined;
  const prepare = async (feature: FeatureExamples) => {
    base ??= makeBase(app);
    const calls = await feature.make(app, await base);
    made.push(...calls.things, ...Object.values(await base));
    return calls;
  };
  return {
    async of(route) {
      const { operationId } = route;
      const feature = featureByOperation.get(operationId);
      if (!feature) throw new Error(`test/contract/examples has no example of ${operationId}`);
      const calls = callsOf.get(feature) ?? prepare(feature);
      callsOf.set(feature, calls);
      return (await calls).of(operationId);
    },
    secrets: () => made,
  };
}

async function makeBase(app: TestApp): Promise<BaseFixtures> {
  const owner = app.as(app.owner);
  const repositoryIdentifier = `acme/${fresh('storefront')}`;
  await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { domains: ['core'] },
  });
  const { id: environmentId } = await owner.post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'uat',
    category: 'release',
  });
  return { repositoryIdentifier, environmentId };
}

export const guardedRoutes = routes.filter((route) => route.roles !== 'public');

export const nameOf = (route: AnyRoute): string => `${route.method.toUpperCase()} ${route.path}`;

/** Who of a tenant calls a route: its owner, or an application where only these may; nobody where anyone may. */
export function callerOf<Caller>(
  { roles }: AnyRoute,
  { owner, application }: { owner: Caller; application: Caller },
): Caller | undefined {
  if (roles === 'public') return undefined;
  return roles.includes('owner') ? owner : application;
}

/** The body and the headers of a call. */
export const optionsOf = ({ body, form, bytes, headers = {} }: Example): RequestOptions => {
  if (bytes !== undefined)
    return { rawBody: bytes, headers: { 'content-type': 'application/octet-stream', ...headers } };
  return form
    ? {
        rawBody: new URLSearchParams(form).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      }
    : { body, headers };
};

/** The address of a call: parameters filled in and encoded, the query appended. */
export function addressOf({ path }: AnyRoute, { params = {}, query }: Example): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? `missing-${name}`));
  return query ? `${filled}?${new URLSearchParams(query)}` : filled;
}
