import { isDeepStrictEqual } from 'node:util';
import { environmentsOfOrg } from '../../projects/environments/environments.queries.ts';
import type { Encryption } from '../../kernel/encryption/encryption.ts';
import { invalidField } from '../../kernel/shared/errors.ts';
import type { HostAddresses } from '../../mocks/serving/own-mocks.ts';
import type { Tx } from '../../unit-of-work.ts';
import { noteOrg, orgToChange } from '../crm-orgs/crm-orgs.mutations.ts';
import type { CalendarState, MaintenanceEntry } from './maintenance-rules.ts';
import { maintenanceOf, noteCalendar, writeMaintenance } from './org-maintenance.queries.ts';

/** The context under which the address of an org's calendar is encrypted. */
export const calendarContext = (orgId: string): string => `org_maintenance:${orgId}`;

export interface MaintenanceChange {
  entries: readonly MaintenanceEntry[];
  /** Null: there is none any more; undefined: it stays as it is. */
  icsUrl?: string | null | undefined;
}

/**
 * Replaces the maintenance of an org; runs that wait for it are told. Throws `not_found`, and `invalid_request` for an address
 * that is not permitted.
 */
export async function setMaintenance(
  tx: Tx,
  orgId: string,
  { entries, icsUrl }: MaintenanceChange,
  { encryption, outbound }: { encryption: Encryption; outbound: HostAddresses },
): Promise<void> {
  if (typeof icsUrl === 'string') assertAddress(icsUrl, outbound);
  const org = await orgToChange(tx, orgId);
  const before = await maintenanceOf(tx, orgId);
  const calendarUrl = typeof icsUrl === 'string' ? encryption.encrypt(icsUrl, calendarContext(orgId)) : icsUrl;
  await writeMaintenance(tx, orgId, { entries, calendarUrl });
  const hadCalendar = typeof before?.calendarUrl === 'string';
  noteOrg(tx, 'maintenance_changed', orgId, `Maintenance of org ${org.username} changed`, {
    before: { entries: before?.entries ?? [], hasCalendar: hadCalendar },
    after: { entries, hasCalendar: icsUrl === undefined ? hadCalendar : icsUrl !== null },
  });
  await tellEnvironments(tx, org);
}

/** Over HTTP without encryption only where the operator lists the address. */
function assertAddress(url: string, outbound: HostAddresses): void {
  const refusal = outbound.refusedUrl(url);
  if (refusal !== undefined) throw invalidField('icsUrl', refusal);
  const { protocol, hostname } = new URL(url);
  const isAddress = /^[\d.]+$|^\[/.test(hostname);
  if (protocol !== 'https:' && !(isAddress && outbound.listedOnly.refusedHost(hostname) === undefined))
    throw invalidField('icsUrl', 'must begin with https');
}

/** Notes what was read of the calendar of an org; runs that wait are told where its entries changed. */
export async function recordCalendar(
  tx: Tx,
  orgId: string,
  calendarUrl: string,
  { before, after }: { before: CalendarState; after: CalendarState },
): Promise<void> {
  if (!(await noteCalendar(tx, orgId, calendarUrl, after))) return;
  if (isDeepStrictEqual(before.entries, after.entries)) return;
  await tellEnvironments(tx, await orgToChange(tx, orgId));
}

async function tellEnvironments(
  tx: Tx,
  { username, sandboxName }: { username: string; sandboxName?: string | null | undefined },
): Promise<void> {
  for (const name of [username, sandboxName].flatMap((each) => each ?? []))
    for (const environment of await environmentsOfOrg(tx, name)) await tx.tell('environmentChanged', environment);
}
