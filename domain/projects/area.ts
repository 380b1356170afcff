import type { Area } from '../kernel/area-manifest.ts';
import { encryptedById } from '../kernel/encryption/encrypted-columns.ts';
import { integrationSecretContext } from './integrations/integrations.mutations.ts';
import { projectInRequest } from './projects/projects.queries.ts';

/** What the area adds to the service. */
export const projects = {
  encryptedColumns: encryptedById('integration', ['credentials'], integrationSecretContext),
  hooks: {
    async projectNamed(tx, identifier) {
      await projectInRequest(tx, identifier);
    },
  },
} satisfies Area;
