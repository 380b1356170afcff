import type { Area } from '../kernel/area-manifest.ts';
import { expiringTokens } from './application-tokens/token-attention.queries.ts';
import { totpContext } from './auth/second-factors.mutations.ts';

/** What the area adds to the service. */
export const identity = {
  attention: [expiringTokens],
  encryptedColumns: [
    {
      table: 'user_totp',
      column: 'secret',
      key: { user_id: 'uuid' },
      context: ({ user_id = '' }) => totpContext(user_id),
    },
  ],
} satisfies Area;
