import { environmentByName, unknownEnvironment } from '../../../domain/projects/environments/environments.queries.ts';
import {
  DELETIONS_MAX,
  deletionManifest,
  keptReason,
  type Manifest,
  manifestXml,
  notDeletableReason,
  UNKNOWN_REASON,
  unreadableReason,
} from '../../../domain/orgs/gc-ledger/gc-deletion-rules.ts';
import { detectedComponents } from '../../../domain/orgs/gc-ledger/gc-deletions.queries.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { storedZip } from '../../../domain/kernel/shared/stored-zip.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { RawReply } from '../../http/replies.ts';
import { Deletions, DeletionsQuery } from './gc-ledger.schemas.ts';

const XML_TYPE = 'application/xml';
const ZIP_TYPE = 'application/zip';

const xmlOf = (manifest: Manifest): Buffer => Buffer.from(manifestXml(manifest));
const download = (fileName: string) => ({ 'Content-Disposition': `attachment; filename="${fileName}"` });

export const gcDeletionsRoutes = [
  defineRoute({
    operationId: 'getGcDeletions',
    method: 'get',
    path: '/api/gc-ledger/destructive-changes',
    group: 'GC ledger',
    summary: 'Get a manifest that deletes the detected components of a branch',
    description: `Sorted by type and name, each component once; at most ${DELETIONS_MAX.toLocaleString('en')}, which is what the platform takes at once: deploy them, have the orgs checked, and ask again. \`json\`: also what cannot be, or is not to be, deleted. \`xml\`: \`destructiveChanges.xml\`. \`zip\`: that with the empty \`package.xml\` that a deployment needs beside it. Never in it is what a readable manifest holds at this time, of this branch or of another repository (for this branch or its own default one), whatever its package has reported since; what was dismissed for any package of the branch; and an object of which something else is held or was dismissed, which would go with it. While a manifest of the branch cannot be read, nothing is in it. With \`environment\`: nor is what its org did not say whether it has it. Names are those by which orgs list components, where the org explorer keeps them. \`notDeletable\` has the reasons.`,
    roles: ANY_ROLE,
    projectScope: 'row',
    query: DeletionsQuery,
    status: 200,
    response: Deletions,
    contentTypes: ['application/json', XML_TYPE, ZIP_TYPE],
    async handle({ query: { repositoryIdentifier, branch, format, environment: name, version } }, { tx }) {
      const { components, unreadable, ...found } = await tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        const environment = name === undefined ? undefined : await environmentByName(work, project.id, name);
        if (environment === null) throw await unknownEnvironment(work, project.id, name ?? '');
        return detectedComponents(work, { projectId: project.id, branch }, environment?.id);
      });
      const [unread] = unreadable;
      const judged = components.map(({ keeper, listedName, isUnknown, ...component }) => ({
        ...component,
        listedName,
        reason:
          notDeletableReason(component) ??
          (keeper && keptReason(keeper)) ??
          (unread === undefined ? undefined : unreadableReason(unread)) ??
          (isUnknown ? UNKNOWN_REASON : undefined),
      }));
      const deleted = judged.filter(({ reason }) => reason === undefined);
      const manifest = deletionManifest(
        deleted.map(({ componentType, fullName, listedName }) => ({ componentType, fullName: listedName ?? fullName })),
        version,
      );
      switch (format) {
        case 'xml':
          return new RawReply(XML_TYPE, xmlOf(manifest), download('destructiveChanges.xml'));
        case 'zip': {
          const files = [
            { path: 'package.xml', content: xmlOf(deletionManifest([], version)) },
            { path: 'destructiveChanges.xml', content: xmlOf(manifest) },
          ];
          return new RawReply(ZIP_TYPE, await storedZip(files), download('destructiveChanges.zip'));
        }
        case 'json':
          return {
            ...manifest,
            notDeletable: judged.flatMap(({ reason, componentType, fullName }) =>
              reason === undefined ? [] : { componentType, fullName, reason },
            ),
            ...found,
            unreadableManifests: unreadable,
          };
      }
    },
  }),
];
