import { z } from 'zod';
import { CONTENT_MAX_BYTES, contentKey, contentOf } from '../../../domain/orgs/org-explorer/contents.ts';
import { orgInBody } from '../../../domain/orgs/org-explorer/explorer-org.ts';
import { ingestComponents, ingestManifest, keepContents } from '../../../domain/orgs/org-explorer/ingest.mutations.ts';
import { ingestSync } from '../../../domain/orgs/org-explorer/ingest-sync.mutations.ts';
import { DomainError, invalidField } from '../../../domain/kernel/shared/errors.ts';
import { defineRoute } from '../../http/define-route.ts';
import { NoContent } from '../../http/parameters.ts';
import type { Scope } from '../../http/scope.ts';
import { ComponentIn, ComponentsIn, ContentOut, ManifestIn, Sha256, SyncIn } from './org-ingest.schemas.ts';

const GROUP = 'Org explorer: internal';
const CONFLICT = 'A sandbox that is refreshed while it is reported gets 409: read it anew.';
const BODY_MAX_BYTES = 50 * 1024 * 1024;
/** Components with their files, of which each has at most nine members. */
const MEMBERS_MAX = 250_000;
/** Clocks of workers differ. */
const AHEAD_MAX_MS = 10 * 60_000;

const ingestScope = async ({ reads, tx, adapters, actor }: Scope, orgUsername: string) => ({
  tx,
  objects: adapters.objects.store,
  tenantId: actor.tenantId,
  org: await orgInBody(reads, orgUsername),
});

export const orgIngestRoutes = [
  defineRoute({
    operationId: 'reportOrgComponent',
    method: 'post',
    path: '/api/orgs/explorer/internal/components',
    group: GROUP,
    summary: 'Report a component of an org with the contents of its files',
    description: `Replaces all files of the component. A file with state \`Deleted\` goes, and a component whose files are all \`Deleted\` goes with them; of a \`Failed\` one, what was kept stays. ${CONFLICT}`,
    roles: ['application'],
    projectScope: 'row',
    body: ComponentIn,
    bodyLimitBytes: BODY_MAX_BYTES,
    jsonMembersMax: MEMBERS_MAX,
    status: 204,
    response: NoContent,
    audit: 'org_explorer.components_reported',
    errors: ['version_conflict'],
    async handle({ body: { orgUsername, ...component } }, scope) {
      await ingestComponents(await ingestScope(scope, orgUsername), [component], '');
    },
  }),
  defineRoute({
    operationId: 'reportOrgComponents',
    method: 'post',
    path: '/api/orgs/explorer/internal/components/batch',
    group: GROUP,
    summary: 'Report components of an org with the contents of their files',
    description:
      'Works as for one component, for at most 1,000 and 50 MB. If a component is given twice, the last counts.',
    roles: ['application'],
    projectScope: 'row',
    body: ComponentsIn,
    bodyLimitBytes: BODY_MAX_BYTES,
    jsonMembersMax: MEMBERS_MAX,
    status: 204,
    response: NoContent,
    audit: 'org_explorer.components_reported',
    errors: ['version_conflict'],
    async handle({ body: { orgUsername, components } }, scope) {
      await ingestComponents(await ingestScope(scope, orgUsername), components);
    },
  }),
  defineRoute({
    operationId: 'reportOrgManifest',
    method: 'post',
    path: '/api/orgs/explorer/internal/components/manifest-batch',
    group: GROUP,
    summary: 'Report components of an org whose contents were stored before',
    description:
      'As a batch of components, with the `objectKey`, `sizeBytes` and `sha256` of contents that were stored by `PUT /api/orgs/explorer/internal/contents/{sha256}`; any other key gets 400.',
    roles: ['application'],
    projectScope: 'row',
    body: ManifestIn,
    bodyLimitBytes: BODY_MAX_BYTES,
    jsonMembersMax: MEMBERS_MAX,
    status: 204,
    response: NoContent,
    audit: 'org_explorer.components_reported',
    errors: ['version_conflict'],
    async handle({ body: { orgUsername, components } }, scope) {
      await ingestManifest(await ingestScope(scope, orgUsername), components);
    },
  }),
  defineRoute({
    operationId: 'storeOrgContent',
    method: 'put',
    path: '/api/orgs/explorer/internal/contents/{sha256}',
    group: GROUP,
    summary: 'Store the content of a file of an org',
    description:
      'At most 50 MB, whose SHA-256 must be the one in the path; storing it again is safe. A content that no component has within a day is removed.',
    roles: ['application'],
    projectScope: 'row',
    params: z.object({ sha256: Sha256 }),
    body: z.instanceof(Uint8Array).meta({ override: { type: 'string', format: 'binary' } }),
    bodyType: 'bytes',
    bodyLimitBytes: CONTENT_MAX_BYTES,
    status: 200,
    response: ContentOut,
    audit: { none: 'A content belongs to no component until a manifest names it, which is audited' },
    async handle({ params: { sha256 }, body }, { tx, adapters, actor }) {
      const content = contentOf(body);
      if (content.sha256 !== sha256)
        throw new DomainError('invalid_request', `The SHA-256 of the body is ${content.sha256}`);
      await keepContents({ tx, objects: adapters.objects.store, tenantId: actor.tenantId }, [content]);
      return { objectKey: contentKey(actor.tenantId, sha256), sizeBytes: content.sizeBytes };
    },
  }),
  defineRoute({
    operationId: 'reportOrgSync',
    method: 'post',
    path: '/api/orgs/explorer/internal/metadata-sync',
    group: GROUP,
    summary: 'Report that all components of types were reported',
    description: `Components of \`typeNames\` that nobody reported since \`syncedAt\` minus \`duration\`, and that the service itself has not listed since, are gone from the org, except of \`failedTypes\`, which keep what they had. ${CONFLICT}`,
    roles: ['application'],
    projectScope: 'row',
    body: SyncIn,
    status: 204,
    response: NoContent,
    audit: 'org_explorer.sync_reported',
    errors: ['version_conflict'],
    async handle({ body: { orgUsername, duration: durationMs, ...sync } }, { reads, tx, now }) {
      if (sync.syncedAt.getTime() > now().getTime() + AHEAD_MAX_MS)
        throw invalidField('syncedAt', 'must not be more than 10 minutes ahead');
      const org = await orgInBody(reads, orgUsername);
      await tx((work) => ingestSync(work, org, { ...sync, durationMs }));
    },
  }),
];
