import { z } from 'zod';
import { registeredOrg } from '../../../domain/orgs/crm-orgs/org-registration.ts';
import { comingEntries, ENTRIES_MAX, isStale, UNREAD } from '../../../domain/orgs/org-maintenance/maintenance-rules.ts';
import { calendarContext, setMaintenance } from '../../../domain/orgs/org-maintenance/org-maintenance.mutations.ts';
import { maintenanceOf } from '../../../domain/orgs/org-maintenance/org-maintenance.queries.ts';
import type { OrgScope } from '../../../domain/orgs/crm-orgs/org-scope.ts';
import { isoOf, momentOf } from '../../../domain/kernel/text/date-time-rules.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { Timestamp } from '../../http/parameters.ts';
import { orgScope } from '../crm-orgs/org-scope.ts';
import { OrgNameInQuery } from '../crm-orgs/crm-orgs.schemas.ts';

const GROUP = 'CRM orgs';
const query = z.strictObject({ username: OrgNameInQuery });

const DateTime = z.iso
  .datetime({ offset: true })
  .refine((text) => momentOf(text) !== undefined, 'must be a time of the years 1 to 9999');

const Entry = z
  .strictObject({
    from: DateTime.meta({ example: '2026-12-05T22:00:00Z' }),
    to: DateTime.meta({ description: 'Exclusive', example: '2026-12-06T02:00:00Z' }),
    summary: z.string().trim().min(1).max(200).meta({ example: 'Major release' }),
  })
  .refine(({ from, to }) => Date.parse(from) < Date.parse(to), { path: ['to'], message: 'must be after `from`' });

const Maintenance = z
  .object({
    username: z.string(),
    entries: z
      .array(z.object({ from: Timestamp, to: Timestamp, summary: z.string(), source: z.enum(['given', 'calendar']) }))
      .meta({
        description: 'Those that are not over, the first to begin first',
      }),
    calendar: z
      .object({
        host: z
          .string()
          .meta({ description: 'Host of its address, which is not shown', example: 'calendar.acme.example' }),
        readAt: Timestamp.nullable().meta({ description: 'When it was read last; null: never yet' }),
        isStale: z
          .boolean()
          .meta({ description: 'It was never read, or not for 24 hours: its entries may be outdated' }),
        failure: z.string().nullable().meta({ description: 'Why it could not be read the last time' }),
        remarks: z.array(z.string()).meta({ description: 'What in it was not understood, and does not count' }),
      })
      .nullable()
      .meta({ description: 'The calendar that is read every hour; null: none' }),
    updatedAt: Timestamp.nullable().meta({ description: 'When they were set; null: never' }),
  })
  .meta({ id: 'OrgMaintenance' });

async function shown(
  { reads, crm: { encryption } }: Pick<OrgScope, 'reads' | 'crm'>,
  { id, username }: { id: string; username: string },
  now: Date,
) {
  const found = await maintenanceOf(reads, id);
  const calendar = found?.calendar ?? UNREAD;
  const entries = comingEntries(
    [
      ...(found?.entries ?? []).map((entry) => ({ ...entry, source: 'given' as const })),
      ...calendar.entries.map((entry) => ({ ...entry, source: 'calendar' as const })),
    ],
    now,
  );
  const url = found?.calendarUrl ? new URL(encryption.decrypt(found.calendarUrl, calendarContext(id))) : null;
  const { readAt, failure, remarks } = calendar;
  return {
    username,
    entries: entries.map(({ from, to, ...entry }) => ({ ...entry, from: isoOf(from), to: isoOf(to) })),
    calendar: url && { host: url.hostname, readAt, isStale: isStale(calendar, now), failure, remarks },
    updatedAt: found ? isoOf(found.updatedAt) : null,
  };
}

export const orgMaintenanceRoutes = [
  defineRoute({
    operationId: 'getOrgMaintenance',
    method: 'get',
    path: '/api/auth/crm/org/maintenance',
    group: GROUP,
    summary: "Show when the platform works on an org's instance",
    roles: ANY_ROLE,
    projectScope: 'row',
    query,
    status: 200,
    response: Maintenance,
    handle: async ({ query: { username } }, scope) =>
      shown(orgScope(scope), await registeredOrg(scope, username), scope.now()),
  }),
  defineRoute({
    operationId: 'setOrgMaintenance',
    method: 'put',
    path: '/api/auth/crm/org/maintenance',
    group: GROUP,
    summary: "Say when the platform works on an org's instance",
    description:
      'Replaces all entries. Those of the calendar at `icsUrl`, which is read every hour, hold beside them for the next 30 days. Each entry is a freeze of every environment whose org it is, which begins 15 minutes earlier: runs that obey windows wait until it is over. Runs that wait are told of a change at once.',
    roles: ['owner'],
    projectScope: 'refused',
    query,
    body: z.strictObject({
      entries: z.array(Entry).max(ENTRIES_MAX),
      icsUrl: z.url().max(2_000).nullable().optional().meta({
        description:
          'Address of a calendar in the iCalendar format, https only; kept encrypted and never shown. Absent: the calendar stays as it is. Null: there is none any more',
        example: 'https://calendar.acme.example/maintenance.ics',
      }),
    }),
    status: 200,
    response: Maintenance,
    audit: ['org.maintenance_changed'],
    async handle({ query: { username }, body }, scope) {
      const org = await registeredOrg(scope, username);
      await scope.tx((tx) => setMaintenance(tx, org.id, body, orgScope(scope).crm));
      return shown(orgScope(scope), org, scope.now());
    },
  }),
];
