import type { Area } from '../kernel/area-manifest.ts';
import type { EncryptedColumn } from '../kernel/encryption/encrypted-columns.ts';
import { hookSecretContext } from './builds/hooks.mutations.ts';

const hookSecret = (column: string): EncryptedColumn => ({
  table: 'hook_secret',
  column,
  key: { tenant_id: 'uuid', project_id: 'uuid' },
  context: ({ project_id = '' }) => hookSecretContext(project_id),
});

/** What the area adds to the service. */
export const ci = {
  encryptedColumns: [hookSecret('secret'), hookSecret('previous_secret')],
} satisfies Area;
