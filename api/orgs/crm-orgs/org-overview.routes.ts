import { z } from 'zod';
import { ORGS_MAX } from '../../../domain/orgs/crm-orgs/crm-orgs.queries.ts';
import { healthOfOrgs, sandboxesOf } from '../../../domain/orgs/crm-orgs/org-overview.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { queryInt } from '../../http/parameters.ts';
import { pageReply } from '../../http/replies.ts';
import { OrgNameInQuery } from './crm-orgs.schemas.ts';
import { OrgOverview, Sandbox } from './org-overview.schemas.ts';
import { orgScope } from './org-scope.ts';

const GROUP = 'CRM orgs';

export const orgOverviewRoutes = [
  defineRoute({
    operationId: 'listOrgHealth',
    method: 'get',
    path: '/api/auth/crm/health',
    group: GROUP,
    summary: 'Show the health of all orgs',
    description: 'Ordered by username. Nothing is asked at the platform: it is what was last learnt.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({ limit: queryInt(1, ORGS_MAX, 1_000), offset: queryInt(0, 1_000_000, 0) }),
    status: 200,
    response: z.array(OrgOverview),
    async handle({ query: page }, { reads, requestUrl }) {
      const { items, total } = await healthOfOrgs(reads, page);
      return pageReply(requestUrl, { ...page, total }, items);
    },
  }),
  defineRoute({
    operationId: 'listSandboxes',
    method: 'get',
    path: '/api/auth/crm/sandboxes',
    group: GROUP,
    summary: 'List the sandboxes of a production org, with the progress of their copies',
    description:
      'Asks the production org. A token limited to projects gets those sandboxes that it can reach: registered ones that it sees, and those whose username (that of the production org, a dot and the name) an environment of its projects names. `username` is that of the registered org; null for a sandbox that is not registered.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({ productionUsername: OrgNameInQuery }),
    status: 200,
    response: z.array(Sandbox),
    errors: ['upstream_error', 'upstream_timeout'],
    handle: ({ query: { productionUsername } }, scope) => sandboxesOf(orgScope(scope), productionUsername),
  }),
];
