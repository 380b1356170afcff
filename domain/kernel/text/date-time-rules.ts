/** PostgreSQL's text of a moment in UTC, `2026-03-02 09:30:01.25+00`; lists have many, and a Date costs ten times as much. */
const POSTGRES_UTC = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,3}))?\+00$/;

/** A database's text of a moment as the service answers it. */
export function isoOf(text: string): string {
  const match = POSTGRES_UTC.exec(text);
  if (!match) return new Date(text).toISOString();
  const [, day = '', time = '', fraction = ''] = match;
  return `${day}T${time}.${fraction.padEnd(3, '0')}Z`;
}

const ISO_MOMENT =
  /^(\d{4}-\d\d-\d\d)(?:T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(Z|[+-](?:0\d|1\d|2[0-3]):[0-5]\d)?)?$/;

/** Years from 1 to 9999: JavaScript writes later ones with a sign and PostgreSQL has no year 0. */
const isWithinYears = (moment: number): boolean => /^(?!0000)\d{4}-/.test(new Date(moment).toISOString());

/**
 * The moment that a client's text names, in milliseconds since the epoch; undefined for a text that names none, such as a
 * day that does not exist (JavaScript takes 30 February for 2 March). A day begins at midnight UTC, and a time without an
 * offset is in UTC.
 */
export function momentOf(text: string): number | undefined {
  const [, day, hour = '00', minute = '00', second = '00', fraction = '', offset = 'Z'] = ISO_MOMENT.exec(text) ?? [];
  if (day === undefined) return undefined;
  const midnight = new Date(`${day}T00:00:00.000Z`);
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(day)) return undefined;
  const moment = Date.parse(`${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}${offset}`);
  return isWithinYears(moment) ? moment : undefined;
}
