import { Readable } from 'node:stream';
import { z } from 'zod';
import { collectionByName, listCollections } from '../../domain/documents/collections.queries.ts';
import { createCollection, deleteCollection } from '../../domain/documents/documents.mutations.ts';
import { documentTexts, listKeys } from '../../domain/documents/documents.queries.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { NoContent } from '../http/parameters.ts';
import { link, RawReply, reply } from '../http/replies.ts';
import {
  Collection,
  CollectionIn,
  CollectionsQuery,
  CollectionWithDocuments,
  GROUP,
  inCollection,
  KeyAndVersion,
  KeysQuery,
  LIST_MAX,
  ofStore,
} from './documents.schemas.ts';

/** A page of a list by name; `found` has one item more if there is a next page. */
function namesReply<Item>(requestUrl: string, found: Item[], limit: number, nameOf: (item: Item) => string) {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return found.length > limit && last !== undefined
    ? reply(items, { headers: { Link: link(requestUrl, { after: nameOf(last) }, 'next') } })
    : items;
}

const PAGES = `At most ${LIST_MAX.toLocaleString('en')} per page; the \`Link\` header leads to the next page.`;

async function* wholeCollection({ id, name }: { id: string; name: string }, texts: AsyncIterable<string>) {
  yield `{"id":${JSON.stringify(id)},"name":${JSON.stringify(name)},"documents":[`;
  yield* texts;
  yield ']}';
}

export const collectionsRoutes = [
  defineRoute({
    operationId: 'createCollection',
    method: 'post',
    path: '/api/doc-store/collections',
    group: GROUP,
    summary: 'Create an empty collection',
    description:
      'Optional, because a collection is created with its first document. A collection can have documents in every store.',
    roles: ANY_ROLE,
    projectScope: 'collection',
    body: CollectionIn,
    status: 201,
    response: Collection,
    errors: ['already_exists'],
    audit: 'document_collection.created',
    handle: ({ body: { name } }, { tx }) => tx((work) => createCollection(work, name)),
  }),
  defineRoute({
    operationId: 'listCollections',
    method: 'get',
    path: '/api/doc-store/collections',
    group: GROUP,
    summary: 'List collections, ordered by name',
    description: PAGES,
    roles: ANY_ROLE,
    projectScope: 'collection',
    query: CollectionsQuery,
    status: 200,
    response: z.array(Collection),
    handle: async ({ query: { limit, after } }, { reads, requestUrl }) =>
      namesReply(requestUrl, await listCollections(reads, after, limit + 1), limit, ({ name }) => name),
  }),
  defineRoute({
    operationId: 'getCollection',
    method: 'get',
    path: '/api/doc-store/collections/{collectionName}',
    group: GROUP,
    summary: 'Get a collection with all its documents in one store',
    description:
      'Streamed, ordered by key. A document that is changed during the request may appear in its old or new version. If the stream fails, the JSON is incomplete.',
    roles: ANY_ROLE,
    projectScope: 'collection',
    params: inCollection,
    query: ofStore,
    status: 200,
    response: CollectionWithDocuments,
    async handle({ params: { collectionName }, query: { store } }, { reads }) {
      const collection = await collectionByName(reads, collectionName);
      const texts = documentTexts(reads.with({ pace: 'varies', isContinued: true }), store, collectionName);
      return new RawReply('application/json', Readable.from(wholeCollection(collection, texts), { objectMode: false }));
    },
  }),
  defineRoute({
    operationId: 'deleteCollection',
    method: 'delete',
    path: '/api/doc-store/collections/{collectionName}',
    group: GROUP,
    summary: 'Delete a collection with its documents in all stores',
    roles: ['owner'],
    projectScope: 'collection',
    params: inCollection,
    status: 204,
    response: NoContent,
    audit: 'document_collection.deleted',
    async handle({ params: { collectionName } }, { tx }) {
      await tx((work) => deleteCollection(work, collectionName));
    },
  }),
  defineRoute({
    operationId: 'listDocuments',
    method: 'get',
    path: '/api/doc-store/collections/{collectionName}/docs',
    group: GROUP,
    summary: 'List the keys and versions of the documents in a collection',
    description: PAGES,
    roles: ANY_ROLE,
    projectScope: 'collection',
    params: inCollection,
    query: KeysQuery,
    status: 200,
    response: z.array(KeyAndVersion),
    async handle({ params: { collectionName }, query: { store, limit, after } }, { reads, requestUrl }) {
      const keys = await listKeys(reads, store, collectionName, after, limit + 1);
      if (keys.length === 0) await collectionByName(reads, collectionName);
      return namesReply(requestUrl, keys, limit, ({ key }) => key);
    },
  }),
];
