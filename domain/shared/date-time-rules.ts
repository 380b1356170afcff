/** PostgreSQL's text of a moment in UTC, `2026-03-02 09:30:01.25+00`; lists have many, and a Date costs ten times as much. */
const POSTGRES_UTC = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,3}))?\+00$/;

/** A database's text of a moment as the service answers it. */
export function isoOf(text: string): string {
  const match = POSTGRES_UTC.exec(text);
  if (!match) return new Date(text).toISOString();
  const [, day = '', time = '', fraction = ''] = match;
  return `${day}T${time}.${fraction.padEnd(3, '0')}Z`;
}
