import type { ObjectStore } from '../../../domain/kernel/objects/object-store.port.ts';
import type { ObjectStoreLocation } from '../../../domain/kernel/objects/object-store-location.ts';
import type { ReportAway } from '../../../domain/kernel/system/outages.ts';
import { createFolderObjectStore } from './folder-object-store.ts';

/** The store at the place that is configured. @param onAway is told each time that one over the network is found away. */
export const createObjectStore = (location: ObjectStoreLocation, onAway: ReportAway = () => undefined): ObjectStore =>
  location.kind === 's3' ? createLoadedStore(location, onAway) : createFolderObjectStore(location.path);

/** Loads the client of S3 when it is first used: it takes several megabytes of memory. */
function createLoadedStore(location: Extract<ObjectStoreLocation, { kind: 's3' }>, onAway: ReportAway): ObjectStore {
  let loading: Promise<ObjectStore> | undefined;
  const store = () =>
    (loading ??= import('./s3-object-store.ts').then(({ createS3ObjectStore }) =>
      createS3ObjectStore(location, onAway),
    ));
  return {
    put: async (key, content, contentType) => (await store()).put(key, content, contentType),
    get: async (key, range) => (await store()).get(key, range),
    sizeOf: async (key) => (await store()).sizeOf(key),
    async *keys() {
      yield* (await store()).keys();
    },
    remove: async (key) => (await store()).remove(key),
    removeAbandoned: async (unchangedMs) => (await store()).removeAbandoned(unchangedMs),
  };
}
