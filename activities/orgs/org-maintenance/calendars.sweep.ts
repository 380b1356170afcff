import { readIcs } from '../../../domain/orgs/org-maintenance/ics-rules.ts';
import { type CalendarState, UNREAD } from '../../../domain/orgs/org-maintenance/maintenance-rules.ts';
import { calendarContext, recordCalendar } from '../../../domain/orgs/org-maintenance/org-maintenance.mutations.ts';
import { dueCalendars, maintenanceOf } from '../../../domain/orgs/org-maintenance/org-maintenance.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { Deps } from '../../deps.ts';
import { defineSweep } from '../../kernel/system/define-sweep.ts';

/** Reads the calendars of orgs once an hour. */
export const calendarsSweep = defineSweep({
  name: 'maintenance-calendars',
  isRoutine: true,
  limit: 200,
  concurrency: 5,
  due: ({ system }, limit) => dueCalendars(system, limit),
  key: ({ orgId }) => orgId,
  async handle(deps, { orgId, ...tenant }) {
    const actor = systemActor(tenant, 'crm');
    const found = await maintenanceOf(deps.reads.as(actor), orgId);
    const { calendarUrl } = found ?? {};
    if (!found || !calendarUrl) return 0;
    const before = found.calendar ?? UNREAD;
    const url = deps.encryption.decrypt(calendarUrl, calendarContext(orgId));
    const after = await readCalendar(deps, url, before);
    await deps.actingAs(actor)((tx) => recordCalendar(tx, orgId, calendarUrl, { before, after }));
    return 0;
  },
});

async function readCalendar({ calendars, now }: Deps, url: string, before: CalendarState): Promise<CalendarState> {
  const { etag } = before;
  // What comes again is followed for some days only: a calendar that has not changed is read anew each day.
  const isRecent = before.readAt !== null && before.readAt.slice(0, 10) === now().toISOString().slice(0, 10);
  const answer = await calendars.read(url, { etag: isRecent && before.failure === null ? etag : null });
  if (!answer.isOk) return { ...before, failure: answer.reason };
  if (answer.value === 'unchanged') return { ...before, readAt: now().toISOString() };
  const reading = readIcs(answer.value.text, now());
  if (!reading.isOk) return { ...before, failure: reading.reason };
  const { entries, remarks } = reading;
  return { entries, remarks, etag: answer.value.etag, readAt: now().toISOString(), failure: null };
}
