import type { CrmParts } from '../../domain/orgs/crm-orgs/org-scope.ts';
import { createOrgConnections } from '../../domain/orgs/crm-orgs/tokens/org-connections.ts';
import { createOrgPolls, type OrgPolls } from '../../domain/orgs/org-limits/org-polls.ts';
import type { CalendarSource } from '../../domain/orgs/org-maintenance/calendar-source.port.ts';
import { createCalendarSource } from '../adapters/calendars/calendar-source.ts';
import { createCrmPlatform } from '../adapters/crm/crm-platform.ts';
import type { Base, Made } from '../base.ts';
import type { MockParts } from '../mocks/parts.ts';

export interface OrgParts {
  crm: CrmParts;
  /** Asks orgs for their limits. */
  orgPolls: OrgPolls;
  /** Where calendars of maintenance are read. */
  calendars: CalendarSource;
}

export function createOrgParts({
  config,
  hosts,
  reads,
  actingAs,
  encryption,
  now,
  log,
}: Base & Pick<MockParts, 'hosts'>): Made<OrgParts> {
  const platform = createCrmPlatform({
    addresses: hosts,
    apiVersionMax: config.CRM_API_VERSION_MAX,
    scratchAuthField: config.CRM_SCRATCH_AUTH_FIELD,
    timeouts: { callMs: config.CRM_CALL_SECONDS * 1_000 },
  });
  const calendars = createCalendarSource(hosts);
  const connections = createOrgConnections({ platform, reads, actingAs, encryption, now, log });
  return {
    parts: {
      crm: { platform, connections, outbound: hosts, encryption },
      orgPolls: createOrgPolls({
        connections,
        reads,
        actingAs,
        now,
        everyMs: config.ORG_LIMITS_EVERY_MINUTES * 60_000,
        log,
      }),
      calendars,
    },
    close: () => Promise.all([platform.close(), calendars.close()]),
  };
}

export interface OrgWork {
  orgExplorer: {
    /** Types whose source is read only when somebody asks for it. */
    indexOnly: ReadonlySet<string>;
    /** How long a refresh waits when the org's calls are used up. */
    pauseSeconds: number;
    /** How long it waits before it first asks how far an order is. */
    pollMs: number;
  };
}

export const createOrgWork = ({ config }: Pick<Base, 'config'>): Made<OrgWork> => ({
  parts: {
    orgExplorer: {
      indexOnly: new Set(config.ORG_EXPLORER_INDEX_ONLY),
      pauseSeconds: config.ORG_EXPLORER_PAUSE_SECONDS,
      pollMs: config.ORG_EXPLORER_POLL_MS,
    },
  },
});
