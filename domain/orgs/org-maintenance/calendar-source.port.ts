import type { Answer } from '../../kernel/outbound/answer.port.ts';

/** A calendar as its host gave it; `unchanged`: it is as it was. */
export type ReadCalendar = { text: string; etag: string | null } | 'unchanged';

/** Where calendars are read. Failures are for people, and name no address. */
export interface CalendarSource {
  read: (
    url: string,
    options: { etag: string | null; signal?: AbortSignal },
  ) => Promise<Answer<ReadCalendar, { isOk: false; reason: string }>>;
}
