import type { ObjectStore } from '../../domain/objects/object-store.port.ts';
import { type ObjectStoreLocation } from '../../domain/objects/object-store-location.ts';
import { createFolderObjectStore } from './folder-object-store.ts';
import { createS3ObjectStore } from './s3-object-store.ts';

/** The store at the place that is configured. */
export const createObjectStore = (location: ObjectStoreLocation): ObjectStore =>
  location.kind === 's3' ? createS3ObjectStore(location) : createFolderObjectStore(location.path);
