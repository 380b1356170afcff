import { z } from 'zod';
import {
  compareOrgs,
  countManifests,
  listChanges,
  listUnpackaged,
} from '../../domain/org-explorer/components.queries.ts';
import { orgInQuery, orgOfRepository } from '../../domain/org-explorer/explorer-org.ts';
import { notFound } from '../../domain/shared/errors.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { DateTime, NAME_MAX, queryInt, RepositoryIdentifier } from '../http/parameters.ts';
import { link, reply } from '../http/replies.ts';
import {
  ChangeCursor,
  ChangesOut,
  ComparisonOut,
  cursorOf,
  MetadataTypeName,
  OrgUsername,
  page,
  UnpackagedOut,
} from './org-explorer.schemas.ts';

const GROUP = 'Org explorer';

/** A page with a link to the next one, where it is full. */
function paged<Item, Body>(
  requestUrl: string,
  items: readonly Item[],
  { limit, cursor, body }: { limit: number; cursor: (last: Item) => string; body: Body },
) {
  const last = items.length === limit ? items.at(-1) : undefined;
  return reply(body, last ? { headers: { Link: link(requestUrl, { cursor: cursor(last) }, 'next') } } : {});
}

export const orgDriftRoutes = [
  defineRoute({
    operationId: 'listOrgChanges',
    method: 'get',
    path: '/api/orgs/explorer/changes',
    group: GROUP,
    summary: 'List what syncs found changed in an org, and who changed it',
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
    description:
      'Sorted by type and name: components of one org alone, and those whose files differ. Where the source of one is not kept, its presence alone is compared. Managed components, and children, which are part of their parents, are left out.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({
      left: OrgUsername,
      right: OrgUsername,
      metadataType: MetadataTypeName.optional(),
      ...page,
    }),
    status: 200,
    response: ComparisonOut,
    async handle({ query: { left: leftName, right: rightName, metadataType, limit, cursor } }, { reads, requestUrl }) {
      const [left, right] = await Promise.all([orgInQuery(reads, leftName), orgInQuery(reads, rightName)]);
      const slow = reads.with({ isPlannedAnew: true, pace: 'varies' });
      const compared = await compareOrgs(slow, { left, right, metadataType }, { limit, cursor });
      const items = compared.map(({ metadataType: type, memberName, difference, ...sides }) => ({
        metadataType: type,
        memberName,
        difference,
        left: difference === 'right_only' ? null : { hash: sides.leftHash, lastModifiedAt: sides.leftModifiedAt },
        right: difference === 'left_only' ? null : { hash: sides.rightHash, lastModifiedAt: sides.rightModifiedAt },
      }));
      return paged(requestUrl, items, {
        limit,
        cursor: (last) => cursorOf(last.metadataType, last.memberName),
        body: { items },
      });
    },
  }),
  defineRoute({
    operationId: 'listUnpackagedComponents',
    method: 'get',
    path: '/api/orgs/explorer/unpackaged',
    group: GROUP,
    summary: 'List the components of an org that no package of a branch has',
    description:
      'Sorted by type and name. Packages are known by their manifests, as the GC ledger reads them; a branch without any gets 404. `*` takes neither standard objects nor the contents of folders; managed components are left out.',
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
    async handle({ query: { branch, metadataType, limit, cursor, ...place } }, { reads, requestUrl }) {
      const { org, project } = await orgOfRepository(reads, place);
      const packages = await countManifests(reads, project.id, branch);
      if (packages === 0) throw notFound(`Manifests of ${place.repositoryIdentifier} on branch ${branch}`);
      const wanted = { projectId: project.id, branch, metadataType };
      const items = await listUnpackaged(reads.with({ isPlannedAnew: true, pace: 'varies' }), org, wanted, {
        limit,
        cursor,
      });
      return paged(requestUrl, items, {
        limit,
        cursor: (last) => cursorOf(last.metadataType, last.memberName),
        body: { packages, items },
      });
    },
  }),
];
