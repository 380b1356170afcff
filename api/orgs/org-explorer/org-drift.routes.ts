import { z } from 'zod';
import { listChanges } from '../../../domain/orgs/org-explorer/components.queries.ts';
import { readComparison, readUnpackaged } from '../../../domain/orgs/org-explorer/drift-reads.ts';
import { orgInQuery, orgOfRepository } from '../../../domain/orgs/org-explorer/explorer-org.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { DateTime, NAME_MAX, queryInt, RepositoryIdentifier } from '../../http/parameters.ts';
import { link, reply } from '../../http/replies.ts';
import { readScope } from './org-explorer.routes.ts';
import { ChangeCursor, ChangesOut, cursorOf, MetadataTypeName, OrgUsername, page } from './org-explorer.schemas.ts';
import { ComparisonOut, Difference, UnpackagedOut } from './comparisons.schemas.ts';

const GROUP = 'Org explorer';
const REFUSED =
  'Nothing is said (`items` null) of an org that has not been read, is being read for the first time, or could not be read: `status` and `message` say which. One that nobody has read is read then, which is audited (`org_explorer.refresh_requested`).';

/** A page with a link to the next one, where it is full. */
function paged<Item, Body>(
  requestUrl: string,
  items: readonly Item[] | null,
  { limit, cursor, body }: { limit: number; cursor: (last: Item) => string; body: Body },
) {
  const last = items?.length === limit ? items.at(-1) : undefined;
  return reply(body, last ? { headers: { Link: link(requestUrl, { cursor: cursor(last) }, 'next') } } : {});
}

export const orgDriftRoutes = [
  defineRoute({
    operationId: 'listOrgChanges',
    method: 'get',
    path: '/api/orgs/explorer/changes',
    group: GROUP,
    summary: 'List what syncs found changed in an org',
    description:
      'Newest first; the first sync of a type is what later ones are compared with. A component changed when its files did, or its date where its source is not read. Kept for 400 days; a sandbox that was refreshed begins anew.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({
      orgUsername: OrgUsername,
      since: DateTime.optional(),
      metadataType: MetadataTypeName.optional(),
      limit: queryInt(1, 1_000, 100),
      cursor: ChangeCursor,
    }),
    status: 200,
    response: ChangesOut,
    async handle({ query: { orgUsername, limit, cursor, ...filter } }, { reads, requestUrl }) {
      const org = await orgInQuery(reads, orgUsername);
      const changes = await listChanges(reads, org, filter, { limit, cursor });
      const items = changes.map(({ beforeHash, afterHash, syncId, ...change }) => ({
        ...change,
        modifiedBy: change.change === 'deleted' ? null : change.modifiedBy,
        before: beforeHash,
        after: afterHash,
        jobId: syncId,
      }));
      return paged(requestUrl, changes, {
        limit,
        cursor: ({ detectedAt, id }) => cursorOf(new Date(detectedAt).toISOString(), id),
        body: { items },
      });
    },
  }),
  defineRoute({
    operationId: 'compareOrgs',
    method: 'get',
    path: '/api/orgs/explorer/compare',
    group: GROUP,
    summary: 'Compare the components of two orgs',
    description: `Sorted by type and name: components of one org alone, those whose files differ, and those of which that is not known, since a source is not kept. Managed components, and children, which are part of their parents, are left out. ${REFUSED} A type that could not be listed in one of the orgs is left out and named.`,
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({
      left: OrgUsername,
      right: OrgUsername,
      metadataType: MetadataTypeName.optional(),
      difference: Difference.optional().meta({ description: 'Only these' }),
      ...page,
    }),
    status: 200,
    response: ComparisonOut,
    async handle({ query: { left: leftName, right: rightName, limit, cursor, ...filter } }, scope) {
      const { reads, requestUrl } = scope;
      const [left, right] = await Promise.all([orgInQuery(reads, leftName), orgInQuery(reads, rightName)]);
      const { items: compared, ...said } = await readComparison(
        readScope(scope),
        { left, right, ...filter },
        { limit, cursor },
      );
      const items =
        compared?.map(({ metadataType, memberName, difference, ...sides }) => ({
          metadataType,
          memberName,
          difference,
          left: difference === 'right_only' ? null : { hash: sides.leftHash, lastModifiedAt: sides.leftModifiedAt },
          right: difference === 'left_only' ? null : { hash: sides.rightHash, lastModifiedAt: sides.rightModifiedAt },
        })) ?? null;
      return paged(requestUrl, items, {
        limit,
        cursor: (last) => cursorOf(last.metadataType, last.memberName),
        body: { ...said, items },
      });
    },
  }),
  defineRoute({
    operationId: 'listUnpackagedComponents',
    method: 'get',
    path: '/api/orgs/explorer/unpackaged',
    group: GROUP,
    summary: 'List the components of an org that no package of a branch has',
    description: `Sorted by type and name. Packages are known by their manifests, as the GC ledger reads them; a branch without any gets 404. \`*\` does not take the contents of folders; managed components, standard objects and standard fields are left out. Names are compared without case, and percent-encoded or not. ${REFUSED} That holds while a manifest cannot be read, too. A type that could not be listed is left out and named.`,
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({
      repositoryIdentifier: RepositoryIdentifier,
      branch: z.string().min(1).max(NAME_MAX).meta({ example: 'main' }),
      orgUsername: OrgUsername,
      metadataType: MetadataTypeName.optional(),
      ...page,
    }),
    status: 200,
    response: UnpackagedOut,
    async handle({ query: { branch, metadataType, limit, cursor, ...place } }, scope) {
      const { org, project } = await orgOfRepository(scope.reads, place);
      const { repositoryIdentifier } = place;
      const wanted = { projectId: project.id, repositoryIdentifier, branch, metadataType };
      const body = await readUnpackaged(readScope(scope), org, wanted, { limit, cursor });
      return paged(scope.requestUrl, body.items, {
        limit,
        cursor: (last) => cursorOf(last.metadataType, last.memberName),
        body,
      });
    },
  }),
];
