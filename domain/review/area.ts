import type { Area } from '../kernel/area.port.ts';
import { encryptedById } from '../kernel/encryption/encrypted-columns.ts';
import { reviewInstanceContext } from './review-pools/review-instances.mutations.ts';

/** What the area adds to the service. */
export const review = {
  encryptedColumns: [...encryptedById('review_instance', ['cli_auth_url'], reviewInstanceContext)],
} satisfies Area;
