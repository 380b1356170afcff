import { lineForPeople } from '../../../../domain/kernel/text/log-line-rules.ts';

const entry = {
  level: 40,
  time: Date.parse('2026-11-27T12:03:04.005Z'),
  process: 'worker',
  sweep: 'flow-runs',
  row: 'a b',
};
const err = { type: 'Error', message: 'it is\n away' };

test.each([
  [entry, '12:03:04.005 WARN  worker said sweep=flow-runs row="a b"\n'],
  [{ ...entry, err }, '12:03:04.005 WARN  worker said: it is away sweep=flow-runs row="a b"\n'],
  [{ level: 30, time: 0, process: 'api', n: { a: 1 } }, '00:00:00.000 INFO  api said n={"a":1}\n'],
])('%j', (logged, expected) => {
  expect(lineForPeople(JSON.stringify({ ...logged, msg: 'said' }))).toBe(expected);
});

test('a stack follows where the entry has one, and what is no entry stays', () => {
  const stack = 'Error: it is away\n    at x';
  const line = JSON.stringify({ ...entry, msg: 'said', err: { ...err, stack } });
  expect(lineForPeople(line)).toMatch(/ said: it is away .*\nError: it is away\n {4}at x\n$/);
  expect(lineForPeople('no JSON\n')).toBe('no JSON\n');
});
