import { featureExamples, fresh } from './example.ts';

export const documentsExamples = featureExamples(
  async (app) => {
    const collectionName = `${fresh('catalog')}/npm/latest`;
    const key = fresh('document');
    await app.as(app.owner).post(201, addressOf(collectionName, key), { value: { downloads: 3 } });
    return { collectionName, key };
  },
  {
    postDocStoreCollections: () => ({ body: { name: fresh('made') } }),
    getDocStoreCollections: () => ({}),
    getDocStoreCollectionsCollectionName: ({ collectionName }) => ({ params: { collectionName } }),
    deleteDocStoreCollectionsCollectionName: ({ collectionName }) => ({ params: { collectionName } }),
    getDocStoreCollectionsCollectionNameDocs: ({ collectionName }) => ({ params: { collectionName } }),
    postDocStoreCollectionsQuery: () => ({
      body: { pathPattern: '**', filters: [{ field: 'downloads', operator: 'gt', value: 2 }] },
    }),
    postDocStoreCollectionsCollectionNameQuery: ({ collectionName }) => ({ params: { collectionName }, body: {} }),
    postDocStoreCollectionsCollectionNameDocsKey: (params) => ({
      params: pathOf(params),
      body: { value: { downloads: 4 }, version: 1 },
      status: 200,
      strangersStatus: 409,
    }),
    getDocStoreCollectionsCollectionNameDocsKey: (params) => ({ params: pathOf(params) }),
    deleteDocStoreCollectionsCollectionNameDocsKey: (params) => ({ params: pathOf(params) }),
    getDocStoreCollectionsCollectionNameDocsKeyVersion: (params) => ({ params: pathOf(params) }),
    getDocStoreCollectionsCollectionNameDocsKeyHistory: (params) => ({ params: pathOf(params) }),
    postDocStoreBulk: () => ({ body: { documents: [{ collection: fresh('bulk'), key: 'a', value: 1 }] } }),
  },
);

const pathOf = ({ collectionName, key }: { collectionName: string; key: string }) => ({ collectionName, key });
const addressOf = (collection: string, key: string) =>
  `/api/doc-store/collections/${encodeURIComponent(collection)}/docs/${key}`;
