import type { Area } from '../kernel/area-manifest.ts';
import { encryptedById } from '../kernel/encryption/encrypted-columns.ts';
import { answeringOrg } from '../projects/environments/org-name-rules.ts';
import { orgsWithoutSignIn } from './crm-orgs/org-attention.queries.ts';
import { forecastLimits } from './org-limits/limit-attention.queries.ts';
import { orgsByName } from './crm-orgs/crm-orgs.queries.ts';
import { calendarContext } from './org-maintenance/org-maintenance.mutations.ts';
import { crmTokenContext } from './crm-orgs/tokens/crm-secrets.ts';

/** What the area adds to the service. */
export const orgs = {
  attention: [orgsWithoutSignIn, forecastLimits],
  encryptedColumns: [
    ...encryptedById('crm_token', ['credential', 'access_token'], crmTokenContext),
    {
      table: 'org_maintenance',
      column: 'calendar_url',
      key: { org_id: 'uuid' },
      context: ({ org_id: orgId = '' }) => calendarContext(orgId),
    },
  ],
  hooks: {
    orgNamed: async (tx, name) => answeringOrg(await orgsByName(tx, name), name)?.username,
  },
} satisfies Area;
