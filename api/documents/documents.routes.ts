import { z } from 'zod';
import type { DocumentName } from '../../domain/documents/document-store.port.ts';
import { deleteDocument, documentVersion, listVersions } from '../../domain/documents/documents.queries.ts';
import { expectedVersion, refusedWrite } from '../../domain/documents/precondition-rules.ts';
import { valueText } from '../../domain/documents/value-rules.ts';
import { notFound } from '../../domain/shared/errors.ts';
import { emitEvent } from '../../domain/webhooks/event-catalog.ts';
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

interface Moments {
  createdAt: Date;
  updatedAt: Date;
}

/** A document's reply; its value is JSON already. */
function documentText(
  { collection, key }: DocumentName,
  version: number,
  value: string,
  { createdAt, updatedAt }: Moments,
): JsonText {
  const rest = JSON.stringify({ collection, key, version, createdAt, updatedAt });
  return new JsonText(`${rest.slice(0, -1)},"value":${value}}`);
}

export const documentsRoutes = [
  defineRoute({
    operationId: 'saveDocument',
    method: 'post',
    path: '/api/doc-store/collections/{collectionName}/docs/{key}',
    group: GROUP,
    summary: 'Create a document, or update it',
    description:
      'Without `version` and `If-Match` a document is created, and its collection with it; with the current version it is updated: 201 and 200. Anything else is 409 with `currentVersion`, or 412 where a header named the version. The version counts from 1 and is the `ETag`. Numbers that JavaScript does not hold exactly, U+0000 and halves of surrogate pairs are refused, never altered; the order of members is not kept.',
    roles: ANY_ROLE,
    params: ofDocument,
    query: ofStore,
    headers: Conditions,
    body: DocumentIn,
    takesExactNumbers: true,
    status: 201,
    otherStatuses: [200],
    response: Document,
    errors: ['version_conflict', 'precondition_failed', 'payload_too_large'],
    audit: ['document.created', 'document.updated'],
    async handle({ params: { collectionName: collection, key }, query: { store }, headers, body }, scope) {
      const { actor, requestId, traceparent, adapters } = scope;
      const { text, sizeBytes } = valueText(body.value, '#/body/value');
      const preconditions = {
        version: body.version,
        ifMatch: headers['if-match'],
        mustBeNew: headers['if-none-match'] === '*',
      };
      const name = { store, collection, key };
      const outcome = await adapters.documents.write({
        ...name,
        actor,
        requestId,
        traceparent,
        value: text,
        sizeBytes,
        expectedVersion: expectedVersion(preconditions),
      });
      if (!outcome.isWritten) throw refusedWrite(preconditions, outcome.currentVersion);
      const { version } = outcome;
      return reply(documentText(name, version, text, outcome), {
        status: version === 1 ? 201 : 200,
        headers: etag(version),
      });
    },
  }),
  defineRoute({
    operationId: 'getDocument',
    method: 'get',
    path: '/api/doc-store/collections/{collectionName}/docs/{key}',
    group: GROUP,
    summary: 'A document with its version',
    description: 'The version is also the `ETag`; with `If-None-Match` and the current one the answer is 304.',
    roles: ANY_ROLE,
    params: ofDocument,
    query: ofStore,
    status: 200,
    response: Document,
    async handle({ params: { collectionName: collection, key }, query: { store } }, { actor, adapters }) {
      const name = { store, collection, key };
      const document = await adapters.documents.read(actor.tenantId, name);
      if (!document) throw notFound(`Document ${key} of collection ${collection}`);
      return reply(documentText(name, document.version, document.value, document), { headers: etag(document.version) });
    },
  }),
  defineRoute({
    operationId: 'deleteDocument',
    method: 'delete',
    path: '/api/doc-store/collections/{collectionName}/docs/{key}',
    group: GROUP,
    summary: 'Delete a document with its history; the collection stays',
    roles: ['owner', 'application'],
    params: ofDocument,
    query: ofStore,
    headers: IfMatch,
    status: 204,
    response: NoContent,
    errors: ['precondition_failed'],
    audit: 'document.deleted',
    async handle({ params: { collectionName: collection, key }, query: { store }, headers }, { tx, actor }) {
      const name = { store, collection, key };
      await tx(async (work) => {
        const version = await deleteDocument(work, name, headers['if-match']);
        work.audit({
          source: 'document',
          action: 'document.deleted',
          entityType: 'document',
          entityId: `${collection}/${key}`,
          summary: `Document ${collection}/${key} deleted at version ${version}`,
          before: { ...name, version },
        });
        emitEvent(work, 'document.deleted', { ...name, version, changedBy: actor.email });
      });
    },
  }),
  defineRoute({
    operationId: 'getDocumentVersion',
    method: 'get',
    path: '/api/doc-store/collections/{collectionName}/docs/{key}/version',
    group: GROUP,
    summary: 'The version of a document alone',
    roles: ANY_ROLE,
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
    summary: 'Earlier versions of a document, newest first',
    description:
      'How many are kept is a setting of the service for each store: 20 in `packages`, none in the others unless it says otherwise. `before` asks for those before a version; the `Link` header leads to the next ones.',
    roles: ANY_ROLE,
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
