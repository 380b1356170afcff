import type { Area } from '../kernel/area-manifest.ts';
import { encryptedById } from '../kernel/encryption/encrypted-columns.ts';
import { integrationSecretContext } from './integrations/integrations.mutations.ts';

/** What the area adds to the service. */
export const projects = {
  encryptedColumns: encryptedById('integration', ['credentials'], integrationSecretContext),
} satisfies Area;
