import { createAccessNotes } from '../../domain/orgs/crm-orgs/doors/access-notes.ts';
import type { OpenAssignedOrg, OrgScope } from '../../domain/orgs/crm-orgs/org-scope.ts';
import { createDashboardCache, type DashboardCache } from '../../domain/orgs/org-limits/limit-dashboard.ts';
import type { OrgPolls } from '../../domain/orgs/org-limits/org-polls.ts';
import type { ApiBase } from '../base.ts';

export interface OrgAdapters {
  crm: OrgScope['crm'];
  orgLimits: { polls: OrgPolls; dashboards: DashboardCache };
}

declare module '../http/scope.ts' {
  interface Adapters extends OrgAdapters {}
}

export const createOrgAdapters = (
  { backend: { crm, orgPolls, now }, database, memory }: ApiBase,
  openAssignedOrg: OpenAssignedOrg,
): OrgAdapters => ({
  crm: { ...crm, noteAccess: createAccessNotes(database, now), openAssignedOrg },
  orgLimits: { polls: orgPolls, dashboards: createDashboardCache(memory) },
});
