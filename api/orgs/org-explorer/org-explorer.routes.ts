import { orgInQuery, orgOfRepository } from '../../../domain/orgs/org-explorer/explorer-org.ts';
import {
  readComponent,
  readComponentList,
  readMetadata,
  type ReadScope,
} from '../../../domain/orgs/org-explorer/explorer-reads.ts';
import { requestRefresh } from '../../../domain/orgs/org-explorer/syncs.mutations.ts';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import { signalOrgExplorer } from '../../../workflows/orgs/org-explorer/org-explorer.contract.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { link, reply } from '../../http/replies.ts';
import type { Scope } from '../../http/scope.ts';
import { componentView } from './component-view.ts';
import {
  ComponentListOut,
  ComponentListQuery,
  ComponentOut,
  ComponentQuery,
  cursorOf,
  MetadataOut,
  MetadataQuery,
  RefreshIn,
  RefreshOut,
} from './org-explorer.schemas.ts';

const GROUP = 'Org explorer';
const STATES =
  'Nothing kept starts a refresh, which is audited (`org_explorer.refresh_requested`), and answers `pending`. After a failed refresh the reply is `error` with its message and what is kept from before, until a refresh is requested again.';

/** What reads may ask for, in a request. */
export const readScope = ({ reads, tx, adapters, actor }: Scope): ReadScope => ({
  reads,
  tx,
  onRequested: ({ id: orgId, username }) => signalOrgExplorer(adapters.launch, { ...tenantOf(actor), orgId, username }),
});

export const orgExplorerRoutes = [
  defineRoute({
    operationId: 'getOrgComponent',
    method: 'get',
    path: '/api/orgs/explorer/components',
    group: GROUP,
    summary: 'Get a component of an org with its files',
    description: `An environment of the repository, or its \`devHubs\`, must name the org. ${STATES} The source of managed components, and of types that are indexed only, is read when it is asked for. A child (\`CustomField\`) has the files of its parent. A member that a finished sync did not find gets 404.`,
    roles: ANY_ROLE,
    projectScope: 'row',
    query: ComponentQuery,
    status: 200,
    response: ComponentOut,
    async handle({ query: { metadataType, memberName, refresh: isRefreshed, ...place } }, scope) {
      const { org } = await orgOfRepository(scope.reads, place);
      const read = await readComponent(readScope(scope), org, { metadataType, memberName }, { isRefreshed });
      return componentView({ ...scope, tenantId: scope.actor.tenantId }, read);
    },
  }),
  defineRoute({
    operationId: 'listOrgComponents',
    method: 'get',
    path: '/api/orgs/explorer/components/list',
    group: GROUP,
    summary: 'List the components of an org',
    description: `Sorted by type and name; the \`Link\` header leads to the next page. ${STATES}`,
    roles: ANY_ROLE,
    projectScope: 'row',
    query: ComponentListQuery,
    status: 200,
    response: ComponentListOut,
    async handle({ query: { orgUsername, limit, cursor, ...filter } }, scope) {
      const org = await orgInQuery(scope.reads, orgUsername);
      const read = await readComponentList(readScope(scope), org, filter, { limit, cursor });
      const last = read.data.items.length === limit ? read.data.items.at(-1) : undefined;
      if (!last) return read;
      const next = cursorOf(last.metadataType, last.memberName);
      return reply(read, { headers: { Link: link(scope.requestUrl, { cursor: next }, 'next') } });
    },
  }),
  defineRoute({
    operationId: 'getOrgMetadata',
    method: 'get',
    path: '/api/orgs/explorer/metadata',
    group: GROUP,
    summary: 'Get the metadata types of an org with their counts, and its last sync',
    description: `An environment of the repository, or its \`devHubs\`, must name the org. ${STATES}`,
    roles: ANY_ROLE,
    projectScope: 'row',
    query: MetadataQuery,
    status: 200,
    response: MetadataOut,
    async handle({ query }, scope) {
      const { org } = await orgOfRepository(scope.reads, query);
      const { data, ...state } = await readMetadata(readScope(scope), org);
      const { types, lastSync } = data;
      const ageOf = (moment: string) =>
        Math.max(0, Math.floor((scope.now().getTime() - new Date(moment).getTime()) / 1_000));
      return {
        ...state,
        data: {
          types: types.map(({ metadataType, componentCount: count, syncedAt, error }) => ({
            metadataType,
            count: syncedAt === null && count === 0 ? null : count,
            syncedAt,
            ageSeconds: syncedAt === null ? null : ageOf(syncedAt),
            error,
          })),
          lastSync: lastSync && {
            ...lastSync,
            jobId: lastSync.id,
            status: lastSync.status === 'failed' ? ('failed' as const) : ('succeeded' as const),
          },
        },
      };
    },
  }),
  defineRoute({
    operationId: 'refreshOrgMetadata',
    method: 'post',
    path: '/api/orgs/explorer/metadata/refresh',
    group: GROUP,
    summary: 'Read the metadata of an org anew',
    description:
      'Lists the components of the org, and retrieves those that changed. A request that a running refresh covers joins it. Subscribe to `org_explorer.refreshed`, or ask for the metadata, to see how it ended.',
    roles: ANY_ROLE,
    projectScope: 'row',
    body: RefreshIn,
    status: 202,
    response: RefreshOut,
    audit: 'org_explorer.refresh_requested',
    async handle({ body: { metadataTypes, ...place } }, scope) {
      const { org } = await orgOfRepository(scope.reads, place);
      const { jobId, isJoined } = await scope.tx((work) => requestRefresh(work, org, metadataTypes ?? null));
      readScope(scope).onRequested(org);
      const message = isJoined ? 'Joined a refresh that is requested or under way' : 'A refresh was requested';
      return { status: 'pending' as const, data: null, jobId, message };
    },
  }),
];
