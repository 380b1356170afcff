import type { Area } from '../kernel/area-manifest.ts';
import { totpContext } from './auth/second-factors.mutations.ts';

/** What the area adds to the service. */
export const identity = {
  encryptedColumns: [
    {
      table: 'user_totp',
      column: 'secret',
      key: { user_id: 'uuid' },
      context: ({ user_id = '' }) => totpContext(user_id),
    },
  ],
} satisfies Area;
