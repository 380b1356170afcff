import type { Area } from '../kernel/area-manifest.ts';
import { encryptedById } from '../kernel/encryption/encrypted-columns.ts';
import { crmTokenContext } from './crm-orgs/tokens/crm-secrets.ts';

/** What the area adds to the service. */
export const orgs = {
  encryptedColumns: encryptedById('crm_token', ['credential', 'access_token'], crmTokenContext),
} satisfies Area;
