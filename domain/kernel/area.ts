import type { Area } from './area-manifest.ts';
import { replyContext } from './idempotency/idempotency.mutations.ts';

/** What the area adds to the service. */
export const kernel = {
  encryptedColumns: [
    {
      table: 'idempotency_key',
      column: 'reply',
      key: { tenant_id: 'uuid', subject: 'text', method: 'text', path: 'text', key: 'text' },
      context: ({ subject = '', key = '' }) => replyContext({ subject, key }),
    },
  ],
} satisfies Area;
