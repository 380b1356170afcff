import { threadCpuMs } from '../../../support/thread-cpu.ts';
import { readIcs } from '../../../../domain/orgs/org-maintenance/ics-rules.ts';

const NOW = new Date('2026-12-01T12:00:00Z');
const calendar = (...lines: string[]): string =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Google Inc//Google Calendar 70.9054//EN',
    ...lines,
    'END:VCALENDAR',
    '',
  ].join('\r\n');
let made = 0;
const event = (...lines: string[]): string =>
  ['BEGIN:VEVENT', `UID:${++made}@google.com`, 'DTSTAMP:20261101T080000Z', ...lines, 'END:VEVENT'].join('\r\n');
const read = (text: string, now = NOW) => {
  const answer = readIcs(text, now);
  if (!answer.isOk) throw new Error(answer.reason);
  return answer;
};
const begins = (...lines: string[]): string[] => read(calendar(event(...lines))).entries.map(({ from }) => from);

test('reads a calendar as Google exports it: zones, folded lines, days and what is cancelled', () => {
  const { entries, remarks } = read(
    calendar(
      'X-WR-CALNAME:NA123 maintenance',
      'X-WR-TIMEZONE:Europe/Berlin',
      'BEGIN:VTIMEZONE\r\nTZID:America/New_York\r\nBEGIN:STANDARD\r\nDTSTART:19701101T020000\r\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU\r\nTZOFFSETFROM:-0400\r\nTZOFFSETTO:-0500\r\nEND:STANDARD\r\nEND:VTIMEZONE',
      event(
        'DTSTART;TZID=America/New_York:20261205T220000',
        'DTEND;TZID="America/New_York":20261206T020000',
        'SUMMARY:Major release\\, Winter ’27:\r\n  NA123\\n(all services)',
        'BEGIN:VALARM\r\nTRIGGER:-P0DT0H30M0S\r\nSUMMARY:alarm\r\nDURATION:P9D\r\nEND:VALARM',
      ),
      event('DTSTART;VALUE=DATE:20261224', 'DTEND;VALUE=DATE:20261227', 'SUMMARY:Moratorium'),
      event('DTSTART:20261203T010000', 'DURATION:PT2H30M'),
      event('DTSTART:20261204T010000Z', 'DTEND:20261204T020000Z', 'SUMMARY:gone', 'STATUS:CANCELLED'),
      event('DTSTART:20261130T010000Z', 'DTEND:20261130T020000Z', 'SUMMARY:over'),
    ),
  );
  expect(remarks).toEqual([]);
  expect(entries).toEqual([
    { from: '2026-12-03T00:00:00.000Z', to: '2026-12-03T02:30:00.000Z', summary: 'Maintenance' },
    {
      from: '2026-12-06T03:00:00.000Z',
      to: '2026-12-06T07:00:00.000Z',
      summary: 'Major release, Winter ’27: NA123 (all services)',
    },
    { from: '2026-12-23T23:00:00.000Z', to: '2026-12-26T23:00:00.000Z', summary: 'Moratorium' },
  ]);
});

test.each([
  ['weekly, begun years ago', ['DTSTART:20190105T220000Z', 'RRULE:FREQ=WEEKLY'], [5, 12, 19, 26]],
  ['every other week', ['DTSTART:20261121T220000Z', 'RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=SA,SU'], [5, 6, 19, 20]],
  ['the third Saturday', ['DTSTART:20260117T220000Z', 'RRULE:FREQ=MONTHLY;BYDAY=3SA'], [19]],
  ['the last day of a month but one', ['DTSTART:20260130T220000Z', 'RRULE:FREQ=MONTHLY;BYMONTHDAY=-2'], [30]],
  ['until a day', ['DTSTART:20261120T220000Z', 'RRULE:FREQ=DAILY;UNTIL=20261203'], [1, 2, 3]],
  ['until a moment', ['DTSTART:20261120T220000Z', 'RRULE:FREQ=DAILY;UNTIL=20261203T215959Z'], [1, 2]],
  ['so many times', ['DTSTART:20261129T220000Z', 'RRULE:FREQ=DAILY;COUNT=5'], [1, 2, 3]],
  ['once a year', ['DTSTART:20201224T220000Z', 'RRULE:FREQ=YEARLY'], [24]],
  [
    'but for some',
    ['DTSTART:20261201T220000Z', 'RRULE:FREQ=DAILY;COUNT=4', 'EXDATE:20261202T220000Z,20261203T220000Z'],
    [1, 4],
  ],
])('follows what comes again: %s', (_, lines, days) => {
  expect(begins('DURATION:PT1H', ...lines)).toEqual(
    days.map((day) => `2026-12-${String(day).padStart(2, '0')}T22:00:00.000Z`),
  );
});

test('a series keeps the time of its zone when the clocks change', () => {
  const series = event('DTSTART;TZID=Europe/Berlin:20260307T220000', 'DURATION:PT1H', 'RRULE:FREQ=WEEKLY');
  const { entries } = read(calendar(series), new Date('2026-03-20T00:00:00Z'));
  expect(entries.slice(0, 3).map(({ from }) => from)).toEqual([
    '2026-03-21T21:00:00.000Z',
    '2026-03-28T21:00:00.000Z',
    '2026-04-04T20:00:00.000Z',
  ]);
});

test('an occurrence that was moved or cancelled is not where it was', () => {
  const one = (...lines: string[]) => ['BEGIN:VEVENT', 'UID:series', ...lines, 'END:VEVENT'].join('\r\n');
  const { entries } = read(
    calendar(
      one('DTSTART;TZID=Europe/Berlin:20261201T230000', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;COUNT=3'),
      one('RECURRENCE-ID;TZID=Europe/Berlin:20261202T230000', 'DTSTART:20261210T100000Z', 'DTEND:20261210T110000Z'),
      one('RECURRENCE-ID:20261203T220000Z', 'DTSTART:20261203T220000Z', 'STATUS:CANCELLED'),
    ),
  );
  expect(entries.map(({ from }) => from)).toEqual(['2026-12-01T22:00:00.000Z', '2026-12-10T10:00:00.000Z']);
});

test.each([
  [['DTSTART;TZID=W. Europe Standard Time:20261205T220000'], 'its time zone W. Europe Standard Time is not known'],
  [['DTSTART:20261205T220000Z', 'RRULE:FREQ=SECONDLY'], 'its recurrence is not understood'],
  [['DTSTART:20261205T220000Z', 'RRULE:FREQ=MONTHLY;BYDAY=SA;BYSETPOS=2'], 'is not understood (BYSETPOS)'],
  [['DTSTART:20261205T220000Z', 'RRULE:FREQ=DAILY;INTERVAL=0'], 'is not understood'],
  [['DTSTART:20261305T220000Z'], 'it does not say when it begins'],
  [['DTSTART;VALUE=DATE:20261201', 'DTEND;VALUE=DATE:20290101'], 'it is longer than 31 days'],
])('%j is said not to be understood', (lines, remark) => {
  const { entries, remarks } = read(calendar(event('DURATION:PT1H', 'SUMMARY:Patch', ...lines)));
  expect(entries).toEqual([]);
  expect(remarks).toEqual([expect.stringContaining(`Patch: `)]);
  expect(remarks[0]).toContain(remark);
});

test('what is cut within a character, or names a zone or a rule in control characters, can be stored', () => {
  const { entries, remarks } = read(
    calendar(
      event('DTSTART:20261205T220000Z', 'DURATION:PT1H', `SUMMARY:${'a'.repeat(199)}😀`),
      event(`DTSTART;TZID=A\0${'b'.repeat(197)}😀:20261205T220000`, 'DURATION:PT1H'),
      event('DTSTART:20261205T220000Z', 'DURATION:PT1H', `RRULE:FREQ=DAILY;\0${'C'.repeat(19)}😀=1`),
    ),
  );
  const texts = [...entries.map(({ summary }) => summary), ...remarks];
  expect(texts).toHaveLength(3);
  expect(texts.filter((text) => !text.isWellFormed() || text.includes('\0'))).toEqual([]);
});

test.each([
  ['<!doctype html><title>Sign in</title>', 'It is no iCalendar file'],
  ['', 'It is no iCalendar file'],
  [calendar(event('DTSTART:20261205T220000Z')).slice(0, -20), 'It breaks off before its end'],
  [calendar(...Array.from({ length: 1_001 }, () => event())), 'more than 1000 events'],
  [calendar('BEGIN:A\r\n'.repeat(11)), 'nested too deeply'],
  [
    calendar(
      ...Array.from({ length: 200 }, () =>
        event('DTSTART:19700101T000000Z', 'DURATION:PT1H', 'RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=9999'),
      ),
    ),
    'more recurrences than are read',
  ],
])('what is no calendar, or too much of one, is refused: %#', (text, reason) => {
  expect(readIcs(text, NOW)).toEqual({ isOk: false, reason: expect.stringContaining(reason) });
});

test('reads any nonsense in little time', () => {
  const nonsense = [
    `DTSTART;TZID="${'A/'.repeat(100_000)}:20261205T220000`,
    `SUMMARY:${'\\'.repeat(300_000)}`,
    `RRULE:${'FREQ=DAILY;'.repeat(20_000)}`,
    `EXDATE:${'20261025T023000,'.repeat(20_000)}`,
    `DURATION:P${'9'.repeat(100_000)}D`,
    ' folded\r\n'.repeat(50_000),
  ];
  const readAll = () => {
    for (const line of nonsense) readIcs(calendar(event('DTSTART:20261205T220000Z', line)), NOW);
    const dense = event('DTSTART;TZID=Europe/Berlin:20200101T023000', 'DURATION:PT1H', 'RRULE:FREQ=DAILY');
    readIcs(calendar(...Array.from({ length: 1_000 }, () => dense)), new Date('2026-10-10T00:00:00Z'));
  };
  expect(threadCpuMs(readAll)).toBeLessThan(20_000);
});
