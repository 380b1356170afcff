import { z } from 'zod';
import { deleteDocument } from '../../domain/documents/documents.mutations.ts';
import { documentVersion, listVersions } from '../../domain/documents/documents.queries.ts';
import { VALUE_MAX_BYTES } from '../../domain/documents/value-rules.ts';
import { writeDocument, type WrittenDocument } from '../../domain/documents/write-documents.ts';
import { notFound } from '../../domain/kernel/shared/errors.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { NoContent, Timestamp } from '../http/parameters.ts';
import { JsonText, link, reply } from '../http/replies.ts';
import {
  Conditions,
  Document,
  DocumentIn,
  EarlierVersion,
  GROUP,
  IfMatch,
  ofDocument,
  ofStore,
  VersionsQuery,
} from './documents.schemas.ts';

const etag = (version: number) => ({ ETag: `"${version}"` });

/** The reply for a document, whose value is already JSON text. */
function documentText({
  collection,
  key,
  version,
  value,
  createdAt,
  updatedAt,
}: Omit<WrittenDocument, 'store'>): JsonText {
  const rest = JSON.stringify({ collection, key, version, createdAt, updatedAt });
  return new JsonText(`${rest.slice(0, -1)},"value":${value}}`);
}

export const documentsRoutes = [
  defineRoute({
    operationId: 'saveDocument',
    method: 'post',
    path: '/api/doc-store/collections/{collectionName}/docs/{key}',
    group: GROUP,
    summary: 'Create or update a document',
    description:
      'Without `version` and `If-Match`, creates a document (201) and, if needed, its collection; with the current version, updates it (200). Any other version gets 409 with `currentVersion`, or 412 if it was given in a header. Versions start at 1 and are also the `ETag`. Numbers that JavaScript cannot represent exactly, a negative zero (`-0`), U+0000 and unpaired surrogates are refused, never altered. The order of object members is not preserved.',
    roles: ANY_ROLE,
    projectScope: 'collection',
    params: ofDocument,
    query: ofStore,
    headers: Conditions,
    body: DocumentIn,
    takesDocuments: true,
    // What is around the value is shorter.
    compactLimitBytes: VALUE_MAX_BYTES + 100,
    takesExactNumbers: true,
    status: 201,
    otherStatuses: [200],
    response: Document,
    errors: ['version_conflict', 'precondition_failed', 'payload_too_large'],
    audit: ['document.created', 'document.updated'],
    async handle({ params: { collectionName: collection, key }, query: { store }, headers, body }, scope) {
      const document = { store, collection, key, value: body.value };
      const written = await writeDocument(scope.adapters.documents, scope, document, {
        version: body.version,
        ifMatch: headers['if-match'],
        mustBeNew: headers['if-none-match'] === '*',
      });
      const { version } = written;
      return reply(documentText(written), { status: version === 1 ? 201 : 200, headers: etag(version) });
    },
  }),
  defineRoute({
    operationId: 'getDocument',
    method: 'get',
    path: '/api/doc-store/collections/{collectionName}/docs/{key}',
    group: GROUP,
    summary: 'Get a document',
    description: 'The version is also the `ETag`; if `If-None-Match` has the current one, the reply is 304.',
    roles: ANY_ROLE,
    projectScope: 'collection',
    params: ofDocument,
    query: ofStore,
    status: 200,
    response: Document,
    async handle({ params: { collectionName: collection, key }, query: { store } }, { actor, adapters }) {
      const name = { store, collection, key };
      const document = await adapters.documents.read(actor.tenantId, name);
      if (!document) throw notFound(`Document ${key} of collection ${collection}`);
      return reply(documentText({ ...name, ...document }), { headers: etag(document.version) });
    },
  }),
  defineRoute({
    operationId: 'deleteDocument',
    method: 'delete',
    path: '/api/doc-store/collections/{collectionName}/docs/{key}',
    group: GROUP,
    summary: 'Delete a document with its earlier versions; the collection is kept',
    roles: ['owner', 'application'],
    projectScope: 'collection',
    params: ofDocument,
    query: ofStore,
    headers: IfMatch,
    status: 204,
    response: NoContent,
    errors: ['precondition_failed'],
    audit: 'document.deleted',
    async handle({ params: { collectionName: collection, key }, query: { store }, headers }, { tx }) {
      await tx((work) => deleteDocument(work, { store, collection, key }, headers['if-match']));
    },
  }),
  defineRoute({
    operationId: 'getDocumentVersion',
    method: 'get',
    path: '/api/doc-store/collections/{collectionName}/docs/{key}/version',
    group: GROUP,
    summary: 'Get the version of a document',
    roles: ANY_ROLE,
    projectScope: 'collection',
    params: ofDocument,
    query: ofStore,
    status: 200,
    response: z.object({ version: z.int() }),
    async handle({ params: { collectionName: collection, key }, query: { store } }, { reads }) {
      const version = await documentVersion(reads, { store, collection, key });
      return reply({ version }, { headers: etag(version) });
    },
  }),
  defineRoute({
    operationId: 'listDocumentVersions',
    method: 'get',
    path: '/api/doc-store/collections/{collectionName}/docs/{key}/history',
    group: GROUP,
    summary: 'List earlier versions of a document, newest first',
    description:
      'How many are kept is configured per store, by default 20 in `packages` and none in other stores. `before` lists the versions before the given one; the `Link` header leads to the next page.',
    roles: ANY_ROLE,
    projectScope: 'collection',
    params: ofDocument,
    query: VersionsQuery,
    status: 200,
    response: z.array(EarlierVersion),
    async handle(
      { params: { collectionName: collection, key }, query: { store, limit, before } },
      { reads, requestUrl },
    ) {
      const name = { store, collection, key };
      const current = await documentVersion(reads, name);
      const versions = await listVersions(reads, name, before, limit);
      const text = versions.map(({ version, value, updatedAt, updatedBy }) => {
        const rest = JSON.stringify({ version, updatedAt: Timestamp.parse(updatedAt), updatedBy });
        return `${rest.slice(0, -1)},"value":${value}}`;
      });
      const oldest = versions.at(-1)?.version ?? current;
      const headers = versions.length > 0 && oldest > 1 ? { Link: link(requestUrl, { before: oldest }, 'next') } : {};
      return reply(new JsonText(`[${text.join(',')}]`), { headers });
    },
  }),
];
