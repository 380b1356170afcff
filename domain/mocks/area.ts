import type { Area } from '../kernel/area-manifest.ts';
import { encryptedById } from '../kernel/encryption/encrypted-columns.ts';
import { mockKeyContext } from './mock-keys.ts';

/** What the area adds to the service. */
export const mocks = {
  encryptedColumns: encryptedById('mock_workspace', ['key'], mockKeyContext),
} satisfies Area;
