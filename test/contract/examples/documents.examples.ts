import { featureExamples, fresh } from './example.ts';

export const documentsExamples = featureExamples(
  async (app) => {
    const collectionName = `${fresh('catalog')}/npm/latest`;
    const key = fresh('document');
    await app.as(app.owner).post(201, addressOf(collectionName, key), { value: { downloads: 3 } });
    return { collectionName, key };
  },
  {
    createCollection: () => ({ body: { name: fresh('made') } }),
    listCollections: () => ({}),
    getCollection: ({ collectionName }) => ({ params: { collectionName } }),
    deleteCollection: ({ collectionName }) => ({ params: { collectionName } }),
    listDocuments: ({ collectionName }) => ({ params: { collectionName } }),
    queryDocuments: () => ({
      body: { pathPattern: '**', filters: [{ field: 'downloads', operator: 'gt', value: 2 }] },
    }),
    queryCollection: ({ collectionName }) => ({ params: { collectionName }, body: {} }),
    saveDocument: (params) => ({
      params: pathOf(params),
      body: { value: { downloads: 4 }, version: 1 },
      status: 200,
      strangersStatus: 409,
    }),
    getDocument: (params) => ({ params: pathOf(params) }),
    deleteDocument: (params) => ({ params: pathOf(params) }),
    getDocumentVersion: (params) => ({ params: pathOf(params) }),
    listDocumentVersions: (params) => ({ params: pathOf(params) }),
    saveDocuments: () => ({ body: { documents: [{ collection: fresh('bulk'), key: 'a', value: 1 }] } }),
  },
);

const pathOf = ({ collectionName, key }: { collectionName: string; key: string }) => ({ collectionName, key });
const addressOf = (collection: string, key: string) =>
  `/api/doc-store/collections/${encodeURIComponent(collection)}/docs/${key}`;
