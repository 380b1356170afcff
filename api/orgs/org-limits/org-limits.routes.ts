import { z } from 'zod';
import { limitDashboard, repeatedReply, withMeta } from '../../../domain/orgs/org-limits/limit-dashboard.ts';
import { chosenOrg, limitSnapshot, limitSummary } from '../../../domain/orgs/org-limits/limit-reports.ts';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { Name, queryFlag, RepositoryIdentifier, WITHOUT_CONTROLS } from '../../http/parameters.ts';
import { JsonText } from '../../http/replies.ts';
import { OrgLimit, OrgLimitDashboard, OrgLimitSummary, Range } from './org-limits.schemas.ts';

const GROUP = 'Org limits';

export const orgLimitsRoutes = [
  defineRoute({
    operationId: 'getOrgLimitSummary',
    method: 'get',
    path: '/api/observability/limits/summary',
    group: GROUP,
    summary: 'Show the state of the limits of all orgs',
    description:
      'By username. Nothing is asked at the platform: it is what the last polls found. With `repositoryIdentifier`, the orgs that its environments name, or its list of dev hubs.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({ repositoryIdentifier: RepositoryIdentifier.optional() }),
    status: 200,
    response: z.array(OrgLimitSummary),
    handle: ({ query: { repositoryIdentifier } }, { reads, adapters, now }) =>
      limitSummary(reads, repositoryIdentifier, { now: now(), everyMs: adapters.orgLimits.polls.everyMs }),
  }),
  defineRoute({
    operationId: 'getOrgLimitDashboard',
    method: 'get',
    path: '/api/observability/limits/dashboard',
    group: GROUP,
    summary: 'Show the course of the limits of an org',
    description:
      'The org is named by `org`, or by one of its environments: `environmentName` and `repositoryIdentifier`. Kept for 60 seconds. `forceRefresh` polls the org before, at most once a minute: `meta.polledAt` says how old the data are. When it does not answer, the last data are shown and `meta.refreshError` says why.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({
      org: Name.regex(WITHOUT_CONTROLS, 'must not contain control characters')
        .optional()
        .meta({ description: 'Username of the org or, for a sandbox, its name; takes precedence' }),
      environmentName: Name.optional(),
      repositoryIdentifier: RepositoryIdentifier.optional(),
      range: Range,
      forceRefresh: queryFlag(false),
    }),
    status: 200,
    response: OrgLimitDashboard,
    errors: ['ambiguous'],
    async handle({ query: { range, forceRefresh, ...choice } }, { actor, reads, adapters: { orgLimits }, now }) {
      const { id: orgId, username } = await chosenOrg(reads, choice);
      const failure = forceRefresh ? await orgLimits.polls.pollNow(tenantOf(actor), orgId) : undefined;
      const { dashboard, isCached } = await limitDashboard(reads, orgLimits.dashboards, {
        orgId,
        range,
        now: now(),
        isFresh: forceRefresh,
      });
      const { span, generatedAt, polledAt, queryDurationMs } = dashboard;
      const meta: z.input<typeof OrgLimitDashboard>['meta'] = {
        range,
        rangeLabel: span.label,
        start: new Date(span.start).toISOString(),
        end: new Date(span.end).toISOString(),
        orgUsername: username,
        environmentName: choice.environmentName ?? null,
        repositoryIdentifier: choice.repositoryIdentifier ?? null,
        generatedAt: generatedAt.toISOString(),
        polledAt: polledAt?.toISOString() ?? null,
        cached: isCached,
        queryDurationMs,
        refreshError: failure?.message ?? null,
      };
      if (!isCached) return new JsonText(withMeta(dashboard, meta));
      const name = JSON.stringify([username, meta.environmentName, meta.repositoryIdentifier]);
      return new JsonText(repeatedReply(dashboard, name, meta), { isRepeated: true });
    },
  }),
  defineRoute({
    operationId: 'getOrgLimitSnapshot',
    method: 'get',
    path: '/api/observability/limits/snapshot',
    group: GROUP,
    summary: "Show the limits of an environment's org as the last poll found them",
    description:
      'Empty before the first poll. An environment without an org, or whose org is not registered, gets 404.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({ environmentName: Name, repositoryIdentifier: RepositoryIdentifier }),
    status: 200,
    response: z.array(OrgLimit),
    async handle({ query }, { reads }) {
      const { id } = await chosenOrg(reads, query);
      return limitSnapshot(reads, id);
    },
  }),
];
